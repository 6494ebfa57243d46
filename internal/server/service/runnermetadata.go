package service

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/garm-operator/garm-operator/internal/server/model"
)

// Tool is a runner program that a forge offers for download, in the forge's words.
type Tool struct {
	OS, Architecture, DownloadURL, Filename, SHA256, TempToken string
}

// RunnerMetadata is all that a script needs that sets up a runner.
type RunnerMetadata struct {
	Controller      model.Controller
	Entity          model.Entity
	Instance        model.Instance
	RegistrationURL string
	Labels          []string
	Certificates    map[string][]byte
	ExtraSpecs      json.RawMessage
	// Tool is nil where the forge offers none for the platform.
	Tool *Tool
}

// RunnerMetadata collects what a script needs that sets up the runner of an instance.
func (s *Service) RunnerMetadata(ctx context.Context, i model.Instance) (m RunnerMetadata, err error) {
	m.Instance = i
	if m.Controller, err = s.Store.Controller(ctx); err != nil {
		return m, err
	}
	if m.Entity, err = s.Store.Entity(ctx, i.EntityID); err != nil {
		return m, err
	}
	pool, err := s.Store.Pool(ctx, i.PoolID)
	if err != nil {
		return m, err
	}
	m.ExtraSpecs = pool.ExtraSpecs
	if !i.JIT {
		m.Labels = pool.TagNames()
	}
	if m.Certificates, err = s.CertificateBundle(ctx, i); err != nil {
		return m, err
	}
	url, tools, err := s.Forges.Tools(ctx, m.Entity)
	if err != nil {
		return m, err
	}
	m.RegistrationURL = url
	os, arch := forgeWords(i.OSType, i.OSArch)
	if at := slices.IndexFunc(tools, func(t Tool) bool { return t.OS == os && t.Architecture == arch }); at >= 0 {
		m.Tool = &tools[at]
	}
	return m, nil
}

// forgeWords names a platform as GitHub does.
func forgeWords(os model.OSType, arch model.OSArch) (osWord, archWord string) {
	osWord, archWord = string(os), string(arch)
	if os == model.Windows {
		osWord = "win"
	}
	if arch == model.AMD64 {
		archWord = "x64"
	}
	return osWord, archWord
}
