-- +goose Up
CREATE TABLE controller (
    id                      TEXT PRIMARY KEY,
    metadata_url            TEXT NOT NULL,
    callback_url            TEXT NOT NULL,
    webhook_url             TEXT NOT NULL,
    agent_url               TEXT NOT NULL,
    agent_releases_url      TEXT NOT NULL,
    enable_agent_tools_sync INTEGER NOT NULL,
    ca_cert_bundle          BLOB,
    job_backoff             INTEGER NOT NULL,
    passphrase_check        BLOB NOT NULL,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id            TEXT PRIMARY KEY,
    username      TEXT NOT NULL UNIQUE COLLATE NOCASE,
    email         TEXT NOT NULL UNIQUE COLLATE NOCASE,
    full_name     TEXT NOT NULL,
    password_hash BLOB NOT NULL,
    enabled       INTEGER NOT NULL,
    is_admin      INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE endpoints (
    name            TEXT PRIMARY KEY COLLATE NOCASE,
    type            TEXT NOT NULL,
    description     TEXT NOT NULL,
    api_base_url    TEXT NOT NULL,
    upload_base_url TEXT NOT NULL,
    base_url        TEXT NOT NULL,
    ca_cert_bundle  BLOB,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE credentials (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL COLLATE NOCASE,
    description TEXT NOT NULL,
    endpoint    TEXT NOT NULL COLLATE NOCASE REFERENCES endpoints (name),
    forge_type  TEXT NOT NULL,
    auth_type   TEXT NOT NULL,
    secret      BLOB NOT NULL,
    revision    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    UNIQUE (name, forge_type)
) STRICT;
CREATE INDEX credentials_endpoint ON credentials (endpoint);

CREATE TABLE entities (
    id             TEXT PRIMARY KEY,
    kind           TEXT NOT NULL,
    owner          TEXT NOT NULL COLLATE NOCASE,
    name           TEXT NOT NULL COLLATE NOCASE,
    endpoint       TEXT NOT NULL COLLATE NOCASE REFERENCES endpoints (name),
    credentials_id INTEGER NOT NULL REFERENCES credentials (id),
    balancer       TEXT NOT NULL,
    agent_mode     INTEGER NOT NULL,
    webhook_secret BLOB NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    UNIQUE (endpoint, kind, owner, name)
) STRICT;
CREATE INDEX entities_credentials ON entities (credentials_id);

CREATE TABLE entity_events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    entity_id  TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    level      TEXT NOT NULL,
    message    TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX entity_events_entity ON entity_events (entity_id, id);

CREATE TABLE tags (
    id   TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE
) STRICT;

CREATE TABLE pools (
    id                TEXT PRIMARY KEY,
    entity_id         TEXT NOT NULL REFERENCES entities (id),
    provider_name     TEXT NOT NULL,
    runner_prefix     TEXT NOT NULL,
    image             TEXT NOT NULL,
    flavor            TEXT NOT NULL,
    os_type           TEXT NOT NULL,
    os_arch           TEXT NOT NULL,
    max_runners       INTEGER NOT NULL,
    min_idle_runners  INTEGER NOT NULL,
    enabled           INTEGER NOT NULL,
    bootstrap_timeout INTEGER NOT NULL,
    extra_specs       BLOB,
    runner_group      TEXT NOT NULL,
    priority          INTEGER NOT NULL,
    enable_shell      INTEGER NOT NULL,
    template_id       INTEGER NOT NULL,
    template_name     TEXT NOT NULL,
    generation        INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX pools_entity ON pools (entity_id);

CREATE TABLE pool_tags (
    pool_id  TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tag_id   TEXT NOT NULL REFERENCES tags (id),
    PRIMARY KEY (pool_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE instances (
    id             TEXT PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE COLLATE NOCASE,
    pool_id        TEXT NOT NULL REFERENCES pools (id),
    provider_id    TEXT NOT NULL,
    provider_fault BLOB,
    agent_id       INTEGER NOT NULL,
    os_type        TEXT NOT NULL,
    os_arch        TEXT NOT NULL,
    os_name        TEXT NOT NULL,
    os_version     TEXT NOT NULL,
    addresses      TEXT NOT NULL,
    status         TEXT NOT NULL,
    runner_status  TEXT NOT NULL,
    runner_group   TEXT NOT NULL,
    generation     INTEGER NOT NULL,
    create_attempt INTEGER NOT NULL,
    token_fetched  INTEGER NOT NULL,
    token_fetched_at INTEGER NOT NULL,
    jit            INTEGER NOT NULL,
    jit_config     BLOB,
    for_job        INTEGER NOT NULL,
    deleting_from  TEXT NOT NULL,
    retry_at       INTEGER NOT NULL,
    failures       INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX instances_pool ON instances (pool_id);

CREATE TABLE instance_messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    level       TEXT NOT NULL,
    message     TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX instance_messages_instance ON instance_messages (instance_id, id);

CREATE TABLE jobs (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow_job_id   INTEGER NOT NULL UNIQUE,
    run_id            INTEGER NOT NULL,
    action            TEXT NOT NULL,
    status            TEXT NOT NULL,
    conclusion        TEXT NOT NULL,
    name              TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    completed_at      INTEGER NOT NULL,
    runner_id         INTEGER NOT NULL,
    runner_name       TEXT NOT NULL,
    runner_group_id   INTEGER NOT NULL,
    runner_group_name TEXT NOT NULL,
    repository_name   TEXT NOT NULL,
    repository_owner  TEXT NOT NULL,
    workflow_run_url  TEXT NOT NULL,
    labels            TEXT NOT NULL,
    entity_id         TEXT NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    locked_by         TEXT NOT NULL,
    instance_id       TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_queue ON jobs (entity_id, status, id);
