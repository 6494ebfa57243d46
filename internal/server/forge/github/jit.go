package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v88/github"

	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

const (
	// defaultGroup is the id of the group that every organization and enterprise has.
	defaultGroup = 1
	workFolder   = "_work"
)

// JITConfig implements fleet.Forge.
func (f forge) JITConfig(ctx context.Context, name, group string, labels []string) (fleet.Runner, model.JITConfig, error) {
	const op = "registering a runner"
	groupID, err := f.groupID(ctx, group)
	if err != nil {
		return fleet.Runner{}, nil, err
	}
	folder := workFolder
	request := github.GenerateJITConfigRequest{Name: name, RunnerGroupID: groupID, WorkFolder: &folder, Labels: labels}
	var answer github.JITRunnerConfig
	if _, err := f.client.call(ctx, op, http.MethodPost, f.runners()+"/generate-jitconfig", request, &answer); err != nil {
		f.forgetGroup(group)
		return fleet.Runner{}, nil, err
	}
	if answer.Runner == nil || answer.Runner.GetID() == 0 {
		return fleet.Runner{}, nil, failed(op, errors.New("the answer names no runner"))
	}
	config, err := decodeJIT(answer.GetEncodedJITConfig())
	if err != nil {
		return fleet.Runner{}, nil, failed(op, err)
	}
	return runnerOf(answer.Runner), config, nil
}

// decodeJIT reads an encoded configuration: the base64 of a JSON object of file names and base64 contents. Its errors
// do not quote it.
func decodeJIT(encoded string) (model.JITConfig, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("the just-in-time configuration is not base64")
	}
	var files map[string][]byte
	if err := json.Unmarshal(data, &files); err != nil || len(files) == 0 {
		return nil, errors.New("the just-in-time configuration is not a JSON object of files")
	}
	return files, nil
}

// groupID resolves the name of a runner group. No name is the default group, and repositories have no other.
func (f forge) groupID(ctx context.Context, name string) (int64, error) {
	if name == "" || f.entity.Kind == model.KindRepository {
		return defaultGroup, nil
	}
	key := groupKey{f.scope, strings.ToLower(name)}
	f.client.mu.Lock()
	id := f.client.groups[key]
	f.client.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	id, err := f.findGroup(ctx, name)
	if err != nil {
		return 0, err
	}
	f.client.mu.Lock()
	defer f.client.mu.Unlock()
	f.client.groups[key] = id
	return id, nil
}

// forgetGroup makes the next registration look a group up again: it may have been deleted and made anew.
func (f forge) forgetGroup(name string) {
	f.client.mu.Lock()
	defer f.client.mu.Unlock()
	delete(f.client.groups, groupKey{f.scope, strings.ToLower(name)})
}

func (f forge) findGroup(ctx context.Context, name string) (int64, error) {
	const op = "looking up a runner group"
	for page, n := 1, 0; page != 0 && n < maxPages; n++ {
		var list github.RunnerGroups
		path := fmt.Sprintf("%s/actions/runner-groups?per_page=%d&page=%d", f.scope, perPage, page)
		res, err := f.client.call(ctx, op, http.MethodGet, path, nil, &list)
		if err != nil {
			return 0, unlessMissing(err)
		}
		for _, g := range list.RunnerGroups {
			if strings.EqualFold(g.GetName(), name) {
				return g.GetID(), nil
			}
		}
		page = res.NextPage
	}
	return 0, &fleet.ForgeError{Kind: fleet.ForgeInvalid, Op: op, Err: fmt.Errorf("there is no runner group %q; create it or change the pool's github-runner-group", name)}
}

// unlessMissing keeps a forge without runner groups from looking like one without just-in-time configurations.
func unlessMissing(err error) error {
	var failed *fleet.ForgeError
	if errors.As(err, &failed) && failed.Kind == fleet.ForgeNotFound {
		failed.Kind = fleet.ForgeInvalid
	}
	return err
}
