package entity

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/garm-operator/garm-operator/api/v1beta1"
	"github.com/garm-operator/garm-operator/garm"
	"github.com/garm-operator/garm-operator/internal/operator/mirror"
	"github.com/garm-operator/garm-operator/internal/operator/remote"
	"github.com/garm-operator/garm-operator/internal/weburl"
)

// attendWebhook brings the webhook at the forge to what the resource says. Once that is done it makes no call but a look
// at long intervals.
func (a *actuator[O, R]) attendWebhook(ctx context.Context, r *R) mirror.Outcome {
	now := time.Now()
	recorded, want := parseMarker(a.pass.Object.GetAnnotations()[v1beta1.AnnotationWebhookMarker]), a.wantedWebhook(r)
	step := nextStep(a.spec.Webhook, recorded, want, now)
	if step == webhookInstall || step == webhookRemove || step == webhookLook {
		if try, ok := a.tries.last(a.name(), a.tryKey(r, want), now); ok {
			a.failWebhook(try.message)
			try.outcome.After = try.until.Sub(now)
			return try.outcome
		}
	}
	switch step {
	case webhookSettled:
		return a.webhookIs(recorded, now)
	case webhookNeedsURL:
		message := "the webhook URL of the GARM server is not set, so GitHub could not reach it; a GarmServerConfig sets it"
		if weburl.HasLogin(a.pass.View.Controller().WebhookURL) {
			message = "the webhook URL of the GARM server holds a user or password, which would show in resources and at GitHub; set spec.webhookUrl of the GarmServerConfig without it"
		}
		a.failWebhook(message)
		return mirror.Outcome{Class: mirror.Waiting, Reason: v1beta1.ReasonControllerURLsMissing, Message: message}
	case webhookInstall:
		return a.installWebhook(ctx, r, recorded, want)
	case webhookRemove:
		return a.removeWebhook(ctx, r, recorded, want)
	case webhookLook:
		return a.lookAtWebhook(ctx, r, recorded, want)
	}
	a.pass.Conditions.Drop(v1beta1.ConditionWebhook)
	if recorded != (webhookMarker{}) {
		a.pass.Mark(v1beta1.AnnotationWebhookMarker, "")
	}
	return mirror.Outcome{}
}

// wantedWebhook is the marker of a webhook that is as it should be.
func (a *actuator[O, R]) wantedWebhook(r *R) webhookMarker {
	want := webhookMarker{Controller: a.pass.ControllerID(), Entity: a.Entity(r).ID}
	if spec := a.spec.Webhook; spec == nil || !spec.Install {
		want.Removed = true
		return want
	}
	want.InsecureSSL, want.Secret = a.spec.Webhook.InsecureSSL, a.secret.Marker()
	if info := a.pass.View.Controller(); !remote.URLMissing(info.WebhookURL) && !weburl.HasLogin(info.WebhookURL) {
		want.URL = info.ControllerWebhookURL
	}
	return want
}

// webhookIs tells that the webhook is as it should be.
func (a *actuator[O, R]) webhookIs(m webhookMarker, now time.Time) mirror.Outcome {
	a.tries.forget(a.name())
	a.pass.Mark(v1beta1.AnnotationWebhookMarker, m.String())
	if m.Removed {
		a.pass.Conditions.True(v1beta1.ConditionWebhook, v1beta1.ReasonWebhookRemoved, "the GARM server has no webhook at GitHub")
		return mirror.Outcome{}
	}
	a.pass.Conditions.True(v1beta1.ConditionWebhook, v1beta1.ReasonWebhookInstalled, fmt.Sprintf("GitHub sends webhooks to %s (webhook %d)", m.URL, m.ID))
	return mirror.Outcome{After: m.Look.Sub(now)}
}

func (a *actuator[O, R]) installWebhook(ctx context.Context, r *R, recorded, want webhookMarker) mirror.Outcome {
	replace := recorded.URL
	if replace == "" {
		replace = want.URL
	}
	params := garm.InstallWebhookParams{WebhookEndpointType: garm.WebhookDirect, InsecureSSL: want.InsecureSSL, ReplaceURL: replace}
	before := a.tries.before(a.name(), a.tryKey(r, want))
	hook, removed, err := a.install(ctx, a.scope(want), params, before.removed)
	switch {
	case garm.KindOf(err) == garm.KindConflict:
		return a.inTheWay(r, want, failedTry{removed: removed || before.removed, conflicts: before.conflicts + 1}, err)
	case err != nil:
		return a.refused(ctx, r, want, failedTry{removed: removed || before.removed, conflicts: before.conflicts}, err)
	}
	a.pass.Log.Info("webhook installed", "kind", a.Name, "hook", hook.ID)
	a.pass.Event(corev1.EventTypeNormal, mirror.EventInfo, "installed the webhook %d", hook.ID)
	now := time.Now()
	want.ID, want.Look = hook.ID, now.Add(spread(lookEvery)).UTC().Truncate(time.Second)
	return a.webhookIs(want, now)
}

// install makes the server install its webhook. Servers that cannot change one in place have to remove it first: it may
// have an earlier secret. Where that was of no use before, only the installation is tried.
func (a *actuator[O, R]) install(ctx context.Context, scope remote.Scope, params garm.InstallWebhookParams, removedBefore bool) (hook garm.HookInfo, removed bool, err error) {
	w := a.pass.View.Writer()
	hook, err = w.InstallWebhook(ctx, scope, params)
	if removedBefore || garm.KindOf(err) != garm.KindConflict {
		return hook, false, err
	}
	switch _, lookErr := w.Webhook(ctx, scope); {
	case garm.IsNotFound(lookErr):
		return hook, false, err // something else is in the way
	case lookErr != nil:
		return hook, false, lookErr
	}
	if err := w.UninstallWebhook(ctx, scope); err != nil {
		return hook, false, fmt.Errorf("removing the webhook that is there: %w", err)
	}
	a.pass.Log.Info("webhook removed, to be installed anew", "kind", a.Name)
	hook, err = w.InstallWebhook(ctx, scope, params)
	return hook, true, err
}

// inTheWay tells that a webhook at the forge keeps the server from installing its own. The server is asked again at
// growing intervals where it may just see one that has gone, and else at long ones.
func (a *actuator[O, R]) inTheWay(r *R, want webhookMarker, try failedTry, err error) mirror.Outcome {
	message := "the GARM server refuses: " + said(err) + "; another webhook at GitHub goes to its host or has its controller id in its URL: remove that one at GitHub"
	after := refusalRetry
	if try.removed {
		message = "the GARM server has removed its webhook, and still refuses to install it: " + said(err) +
			"; GitHub has no webhook of this server until every one that goes to its host or has its controller id in its URL is removed at GitHub"
		after = conflictDelay(try.conflicts)
	}
	a.failWebhook(message)
	try.message, try.outcome = message, mirror.Outcome{Class: mirror.Terminal, Reason: v1beta1.ReasonWebhookFailed, Message: message, After: after, Err: err}
	return a.noteTry(r, want, try)
}

func (a *actuator[O, R]) removeWebhook(ctx context.Context, r *R, recorded, want webhookMarker) mirror.Outcome {
	if err := a.pass.View.Writer().UninstallWebhook(ctx, a.scope(want)); err != nil {
		return a.refused(ctx, r, want, failedTry{}, err)
	}
	a.pass.Log.Info("webhook removed", "kind", a.Name, "hook", recorded.ID)
	a.pass.Event(corev1.EventTypeNormal, mirror.EventInfo, "removed the webhook")
	return a.webhookIs(want, time.Now())
}

func (a *actuator[O, R]) lookAtWebhook(ctx context.Context, r *R, recorded, want webhookMarker) mirror.Outcome {
	hook, err := a.pass.View.Writer().Webhook(ctx, a.scope(want))
	now := time.Now()
	switch {
	case garm.IsNotFound(err), err == nil && (hook.URL != want.URL || hook.InsecureSSL != want.InsecureSSL || !hook.Active):
		return a.installWebhook(ctx, r, recorded, want)
	case err == nil:
		recorded.ID, recorded.Look = hook.ID, now.Add(spread(lookEvery))
	default:
		a.pass.Log.V(1).Info("the webhook could not be looked at", "error", err.Error())
		recorded.Look = now.Add(spread(lookRetry))
	}
	recorded.Look = recorded.Look.UTC().Truncate(time.Second)
	return a.webhookIs(recorded, now)
}

// refused tells that the webhook is not as it should be. A webhook that is to go holds up nothing.
func (a *actuator[O, R]) refused(ctx context.Context, r *R, want webhookMarker, try failedTry, err error) mirror.Outcome {
	outcome := a.explain(ctx, want, err)
	message := outcome.Message
	a.failWebhook(message)
	if want.Removed {
		outcome = mirror.Outcome{After: max(outcome.After, removalRetry)}
	} else if outcome.Class != mirror.Terminal {
		try.wish, try.until = a.tryKey(r, want), time.Now()
		a.tries.note(a.name(), try, try.until)
		return outcome
	}
	try.message, try.outcome = message, outcome
	return a.noteTry(r, want, try)
}

// noteTry remembers a refusal, and returns its outcome.
func (a *actuator[O, R]) noteTry(r *R, want webhookMarker, try failedTry) mirror.Outcome {
	now := time.Now()
	try.outcome.After = spread(try.outcome.After)
	try.wish, try.until = a.tryKey(r, want), now.Add(try.outcome.After)
	a.tries.note(a.name(), try, now)
	return try.outcome
}

// explain says what a user can do about a failed call.
func (a *actuator[O, R]) explain(ctx context.Context, want webhookMarker, err error) mirror.Outcome {
	stop := func(message string) mirror.Outcome {
		return mirror.Outcome{Class: mirror.Terminal, Reason: v1beta1.ReasonWebhookFailed, Message: message, After: refusalRetry, Err: err}
	}
	switch garm.KindOf(err) {
	case garm.KindNoRoute:
		return stop("the GARM server does not manage webhooks; set enable_webhook_management = true in the section [default] of its configuration and " +
			"start it anew, or remove spec.webhook and install the webhook by hand")
	case garm.KindInvalid, garm.KindConflict:
		return stop("the GARM server refuses: " + said(err))
	case garm.KindNotFound:
		if gone, err := a.pass.View.ConfirmGone(ctx, a.Remote, want.Entity); err == nil && gone {
			return mirror.Outcome{Class: mirror.Waiting, Reason: v1beta1.ReasonReconciling, Message: "the GARM server does not have it any more", After: time.Second}
		}
	}
	o := mirror.Classify(mirror.Updating, err)
	if o.Silent {
		// What this pass has sent before has to be recorded.
		o.Silent, o.Reason, o.Message = false, v1beta1.ReasonGarmUnavailable, "the webhook has to wait for the GARM server"
	}
	if o.Reason == v1beta1.ReasonGarmAPIError {
		o.Reason = v1beta1.ReasonWebhookFailed
	}
	return o
}

// said are the server's own words.
func said(err error) string {
	var e *garm.Error
	if errors.As(err, &e) && e.Details != "" {
		return e.Details
	}
	return err.Error()
}

func (a *actuator[O, R]) failWebhook(message string) {
	a.pass.Conditions.False(v1beta1.ConditionWebhook, v1beta1.ReasonWebhookFailed, message)
}

// tryKey identifies everything that could make a refused call succeed, as far as it is seen here.
func (a *actuator[O, R]) tryKey(r *R, want webhookMarker) string {
	credentials, _, _ := a.pass.View.Credentials(a.Entity(r).CredentialsID)
	return fmt.Sprintf("%s %d %s %d %s %s", a.pass.Object.GetUID(), a.pass.Object.GetGeneration(), want.wish(),
		credentials.ID, credentials.UpdatedAt, a.pass.Session.State().Since)
}

func (a *actuator[O, R]) name() types.NamespacedName {
	return client.ObjectKeyFromObject(a.pass.Object)
}

func (a *actuator[O, R]) scope(want webhookMarker) remote.Scope {
	return remote.Scope{Kind: a.Remote, ID: want.Entity}
}
