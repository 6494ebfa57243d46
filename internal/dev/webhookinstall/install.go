// Package webhookinstall makes an API server without Services call the webhooks of an operator that runs beside it.
//
// What is installed is what is shipped; only the Service in each call becomes a URL.
package webhookinstall

import (
	"context"
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/config/crd"
	"github.com/garm-operator/garm-operator/config/webhook"
)

// ConfigurationName is the name of the ValidatingWebhookConfiguration that Install applies: what operator.webhookConfiguration has
// to say.
const ConfigurationName = "validating-webhook-configuration"

// Install makes the API server call webhooks at a URL such as https://localhost:9443, or changes where it calls: it applies the
// ValidatingWebhookConfiguration, and the conversion of those custom resource definitions of the group that need it.
func Install(ctx context.Context, config *rest.Config, url string) error {
	c, err := newClient(config)
	if err != nil {
		return err
	}
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(webhook.Manifests, hooks); err != nil {
		return fmt.Errorf("read the webhook manifests: %w", err)
	}
	CallURL(hooks, url)
	if err := createOrReplace(ctx, c, hooks); err != nil {
		return err
	}
	definitions, err := definitions(ctx, c)
	if err != nil {
		return err
	}
	for i := range definitions {
		d := &definitions[i]
		if !crd.Converted(d) {
			continue
		}
		base := d.DeepCopy()
		path := crd.ConversionPath
		d = crd.WithConversion(d, apiextensionsv1.WebhookClientConfig{URL: at(url, &path)})
		if err := c.Patch(ctx, d, client.MergeFrom(base)); err != nil {
			return fmt.Errorf("set the conversion of %s: %w", d.Name, err)
		}
	}
	return nil
}

// Trust makes every call trust authorities, in PEM, as whoever gives an operator its certificate in files has to.
func Trust(ctx context.Context, config *rest.Config, authorities []byte) error {
	c, err := newClient(config)
	if err != nil {
		return err
	}
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: ConfigurationName}, hooks); err != nil {
		return fmt.Errorf("look at the webhooks that are there: %w", err)
	}
	for i := range hooks.Webhooks {
		hooks.Webhooks[i].ClientConfig.CABundle = authorities
	}
	if err := c.Update(ctx, hooks); err != nil {
		return fmt.Errorf("say what webhooks trust: %w", err)
	}
	definitions, err := definitions(ctx, c)
	if err != nil {
		return err
	}
	for i := range definitions {
		d := &definitions[i]
		if d.Spec.Conversion == nil || d.Spec.Conversion.Webhook == nil {
			continue
		}
		base := d.DeepCopy()
		d.Spec.Conversion.Webhook.ClientConfig.CABundle = authorities
		if err := c.Patch(ctx, d, client.MergeFrom(base)); err != nil {
			return fmt.Errorf("say what the conversion of %s trusts: %w", d.Name, err)
		}
	}
	return nil
}

// CallURL turns the Service that a ValidatingWebhookConfiguration or a CustomResourceDefinition calls into a URL, the path kept.
// Other objects are left alone.
func CallURL(obj client.Object, url string) {
	switch o := obj.(type) {
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			c := &o.Webhooks[i].ClientConfig
			if c.Service != nil {
				c.URL, c.Service = at(url, c.Service.Path), nil
			}
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if o.Spec.Conversion == nil || o.Spec.Conversion.Webhook == nil {
			return
		}
		if c := o.Spec.Conversion.Webhook.ClientConfig; c != nil && c.Service != nil {
			c.URL, c.Service = at(url, c.Service.Path), nil
		}
	}
}

func at(url string, path *string) *string {
	full := strings.TrimRight(url, "/")
	if path != nil {
		full += *path
	}
	return &full
}

func definitions(ctx context.Context, c client.Client) ([]apiextensionsv1.CustomResourceDefinition, error) {
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list the custom resource definitions: %w", err)
	}
	var ours []apiextensionsv1.CustomResourceDefinition
	for _, d := range list.Items {
		if d.Spec.Group == v1beta1.Group {
			ours = append(ours, d)
		}
	}
	return ours, nil
}

func createOrReplace(ctx context.Context, c client.Client, hooks *admissionregistrationv1.ValidatingWebhookConfiguration) error {
	err := c.Create(ctx, hooks)
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("apply the webhook manifests: %w", err)
	}
	if err == nil {
		return nil
	}
	there := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(hooks), there); err != nil {
		return fmt.Errorf("look at the webhooks that are there: %w", err)
	}
	hooks.ResourceVersion = there.ResourceVersion
	if err := c.Update(ctx, hooks); err != nil {
		return fmt.Errorf("replace the webhooks that are there: %w", err)
	}
	return nil
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(admissionregistrationv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	return c, nil
}
