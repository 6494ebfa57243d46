// Package pool mirrors Pools. A pool has no natural key, so its creation is preceded by an intent: an annotation that
// tells a restarted operator which pools of the scope cannot be the one that was created.
package pool
