package provider

import (
	"github.com/garm-operator/garm-operator/garm/provider"
	"github.com/garm-operator/garm-operator/internal/server/fleet"
	"github.com/garm-operator/garm-operator/internal/server/model"
)

// bootstrap is what the program reads on standard input. Lists are never null: some programs cannot read that.
func bootstrap(pool model.Pool, b fleet.Bootstrap) provider.BootstrapInstance {
	tools := make([]provider.Tool, len(b.Tools))
	for i, t := range b.Tools {
		tools[i] = provider.Tool{
			OS: t.OS, Architecture: t.Architecture, DownloadURL: t.DownloadURL, Filename: t.Filename,
			TempDownloadToken: provider.Secret(t.TempToken), SHA256Checksum: t.SHA256,
		}
	}
	return provider.BootstrapInstance{
		Name: b.Name, Tools: tools, RepoURL: b.RepoURL, CallbackURL: b.CallbackURL, MetadataURL: b.MetadataURL,
		InstanceToken: provider.Secret(b.Token), SSHKeys: []string{}, ExtraSpecs: pool.ExtraSpecs,
		RunnerGroup: pool.RunnerGroup, CACertBundle: b.CACerts, OSArch: string(pool.OSArch), OSType: string(pool.OSType),
		Flavor: pool.Flavor, Image: pool.Image, Labels: append([]string{}, b.Labels...), PoolID: string(pool.ID),
		UserDataOptions: provider.UserDataOptions{ExtraPackages: []string{}}, JITConfigEnabled: b.JIT,
	}
}

func machine(i provider.Instance) fleet.Machine {
	m := fleet.Machine{
		ProviderID: i.ProviderID, Name: i.Name, OSType: model.OSType(i.OSType), OSArch: model.OSArch(i.OSArch),
		OSName: i.OSName, OSVersion: i.OSVersion, Status: model.InstanceStatus(i.Status),
		Fault: []byte(limit(string(i.ProviderFault), maxFault)),
	}
	for _, a := range i.Addresses {
		m.Addresses = append(m.Addresses, model.Address{Address: a.Address, Type: a.Type})
	}
	return m
}
