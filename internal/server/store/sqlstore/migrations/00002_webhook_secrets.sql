-- +goose Up
ALTER TABLE entities ADD COLUMN webhook_installed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entities ADD COLUMN old_webhook_secrets BLOB;
ALTER TABLE entities ADD COLUMN webhook_told_at INTEGER NOT NULL DEFAULT 0;
-- Which webhooks were installed before is not known. Each may be one, until the forge shows that there is none.
UPDATE entities SET webhook_installed = 1;
