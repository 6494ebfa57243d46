package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Config says which runner to start and where to report.
type Config struct {
	// MetadataURL and CallbackURL are those of the server; a trailing slash or /status on the latter does no harm.
	MetadataURL string
	CallbackURL string
	// Token is the instance token, the bearer token for both. It is a secret.
	Token string
	// JIT says that the credentials are ready at the metadata URL. Otherwise the runner registers by a token, by
	// Configure, for which URL, Name, Labels and Group are needed.
	JIT    bool
	URL    string
	Name   string
	Labels []string
	Group  string
	// Dir is the runner's folder and the working directory of both commands.
	Dir string
	// Configure registers a runner, as config.sh of the GitHub runner does and with its arguments. It gets the
	// registration token in the variable ACTIONS_RUNNER_INPUT_TOKEN.
	Configure []string
	// Run is the command of the runner, such as ["./run.sh"].
	Run []string
	// ReadyLine is a part of the line that the runner prints once it is connected.
	ReadyLine string
	// ReadyTimeout is how long the runner has to connect.
	ReadyTimeout time.Duration
	// CACertFile holds PEM certificates that are trusted besides the system's, for the calls of this program. Optional.
	CACertFile string
}

// Defaults of Config.
const (
	DefaultReadyLine    = "Listening for Jobs"
	DefaultReadyTimeout = 2 * time.Minute
)

// maxToken bounds what is read as the instance token.
const maxToken = 64 << 10

// Environment variables that ConfigFromEnv reads.
const (
	EnvMetadataURL  = "METADATA_URL"
	EnvCallbackURL  = "CALLBACK_URL"
	EnvTokenFile    = "INSTANCE_TOKEN_FILE"
	EnvJIT          = "JIT_CONFIG_ENABLED"
	EnvURL          = "RUNNER_URL"
	EnvName         = "RUNNER_NAME"
	EnvLabels       = "RUNNER_LABELS"
	EnvGroup        = "RUNNER_GROUP"
	EnvDir          = "RUNNER_DIR"
	EnvReadyLine    = "RUNNER_READY_LINE"
	EnvReadyTimeout = "RUNNER_READY_TIMEOUT"
	EnvConfigure    = "RUNNER_CONFIGURE_COMMAND"
	EnvCACertFile   = "CA_CERT_FILE"
)

// ConfigFromEnv reads a configuration. The instance token comes from the file that INSTANCE_TOKEN_FILE names, or from
// stdin where that is "-". run is the command of the runner; without it the GitHub runner's own is used.
// RUNNER_CONFIGURE_COMMAND is a JSON list of strings, or words separated by blanks. Errors name the variable.
func ConfigFromEnv(getenv func(string) string, stdin io.Reader, run []string) (Config, error) {
	or := func(name, without string) string {
		if value := getenv(name); value != "" {
			return value
		}
		return without
	}
	c := Config{
		MetadataURL: getenv(EnvMetadataURL), CallbackURL: getenv(EnvCallbackURL), URL: getenv(EnvURL), Name: getenv(EnvName),
		Group: getenv(EnvGroup), Dir: or(EnvDir, "."), ReadyLine: or(EnvReadyLine, DefaultReadyLine), ReadyTimeout: DefaultReadyTimeout,
		Run: run, CACertFile: getenv(EnvCACertFile),
	}
	if len(c.Run) == 0 {
		c.Run = []string{"./run.sh"}
	}
	if labels := getenv(EnvLabels); labels != "" {
		c.Labels = strings.Split(labels, ",")
	}
	var faults []error
	fault := func(name string, err error) { faults = append(faults, fmt.Errorf("%s: %w", name, err)) }
	var err error
	if c.JIT, err = strconv.ParseBool(or(EnvJIT, "false")); err != nil {
		fault(EnvJIT, errors.New("give true or false"))
	}
	if text := getenv(EnvReadyTimeout); text != "" {
		if c.ReadyTimeout, err = time.ParseDuration(text); err != nil || c.ReadyTimeout <= 0 {
			fault(EnvReadyTimeout, errors.New("give a positive duration such as 2m"))
		}
	}
	if c.Configure, err = parseCommand(or(EnvConfigure, "./config.sh")); err != nil {
		fault(EnvConfigure, err)
	}
	for name, value := range map[string]string{EnvMetadataURL: c.MetadataURL, EnvCallbackURL: c.CallbackURL} {
		if err := checkURL(value); err != nil {
			fault(name, err)
		}
	}
	if !c.JIT {
		if err := checkURL(c.URL); err != nil {
			fault(EnvURL, err)
		}
		if c.Name == "" {
			fault(EnvName, errors.New("is needed where "+EnvJIT+" is not true"))
		}
	}
	if c.Token, err = readToken(getenv(EnvTokenFile), stdin); err != nil {
		fault(EnvTokenFile, err)
	}
	if len(faults) > 0 {
		return Config{}, errors.Join(faults...)
	}
	return c, nil
}

func parseCommand(text string) ([]string, error) {
	words := strings.Fields(text)
	if strings.HasPrefix(text, "[") {
		words = nil
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			return nil, errors.New("give a JSON list of strings, or words separated by blanks")
		}
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("names no program")
	}
	return words, nil
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("give an http or https URL")
	}
	return nil
}

func readToken(path string, stdin io.Reader) (string, error) {
	var data []byte
	var err error
	switch path {
	case "":
		return "", errors.New(`give the path of a file with the instance token, or "-" for standard input`)
	case "-":
		data, err = io.ReadAll(io.LimitReader(stdin, maxToken))
	default:
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", errors.New("the instance token is empty")
	}
	return token, nil
}
