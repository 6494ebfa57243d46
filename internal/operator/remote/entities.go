package remote

import "github.com/garm-operator/garm-operator/garm"

// Repositories returns all repositories.
func (v *View) Repositories() ([]garm.Repository, bool) { return list(v, v.cache.repositories) }

// Organizations returns all organizations.
func (v *View) Organizations() ([]garm.Organization, bool) { return list(v, v.cache.organizations) }

// Enterprises returns all enterprises.
func (v *View) Enterprises() ([]garm.Enterprise, bool) { return list(v, v.cache.enterprises) }
