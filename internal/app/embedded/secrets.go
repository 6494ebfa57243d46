package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files of a data directory. All but the lock and the database hold one secret each.
const (
	lockFile       = "lock"
	databaseFile   = "garm.db"
	passphraseFile = "database-passphrase"
	tokenKeyFile   = "token-key"
	passwordFile   = "admin-password"
)

// secrets are what a server needs to know and nobody else.
type secrets struct {
	// passphrase seals the secrets in the database; it has 32 characters.
	passphrase string
	tokenKey   string
}

// loadSecrets reads the secrets of a data directory that this process has locked, and makes those that a new one lacks. The
// administrator's password is made unless the administrator is given.
func loadSecrets(dir string, adminGiven bool) (secrets, error) {
	_, err := os.Stat(filepath.Join(dir, databaseFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return secrets{}, fmt.Errorf("look at the database: %w", err)
	}
	fresh := err != nil
	var s secrets
	if s.passphrase, err = secret(dir, passphraseFile, fresh, "restore the file: without it the secrets in "+databaseFile+" cannot be read"); err != nil {
		return secrets{}, err
	}
	// Tokens that a lost key has signed have to be renewed, which all clients do by themselves.
	if s.tokenKey, err = secret(dir, tokenKeyFile, true, ""); err != nil {
		return secrets{}, err
	}
	if !adminGiven {
		if _, err = secret(dir, passwordFile, fresh, "restore the file, or give the administrator by --garm-username and --garm-password-file"); err != nil {
			return secrets{}, err
		}
	}
	return s, nil
}

// secret returns what a file holds. One that does not exist is made if it may be; else wayOut says what to do.
func secret(dir, name string, mayMake bool, wayOut string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !mayMake {
			return "", fmt.Errorf("%s is missing in a data directory that is in use: %s", path, wayOut)
		}
		text = randomText()
		return text, writeSecret(path, text)
	}
	if err != nil {
		return "", fmt.Errorf("read a secret of the data directory: %w", err)
	}
	if text == "" {
		return "", fmt.Errorf("%s is empty: %s", path, wayOut)
	}
	// A volume may have been given group permissions as a whole. Where the file is somebody else's, its mode is theirs, too.
	_ = os.Chmod(path, 0o600)
	return text, nil
}

func readSecret(path string) (string, error) {
	content, err := os.ReadFile(path)
	return strings.TrimRight(string(content), "\r\n"), err
}

// writeSecret makes the file whole or not at all.
func writeSecret(path, text string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // with mode 0600
	if err != nil {
		return fmt.Errorf("make a secret of the data directory: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
			err = fmt.Errorf("make a secret of the data directory: %w", err)
		}
	}()
	_, err = file.WriteString(text + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// randomText returns 32 characters that nobody can guess.
func randomText() string {
	bytes := make([]byte, 24)
	_, _ = rand.Read(bytes) // never fails
	return base64.RawURLEncoding.EncodeToString(bytes)
}
