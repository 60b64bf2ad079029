-- Who may call: small reference tables, without a bucket.
CREATE SCHEMA access;

CREATE TABLE access.projects (
    id         uuid        NOT NULL PRIMARY KEY,
    name       text        NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 100),
    space      integer     NOT NULL DEFAULT 0 CHECK (space >= 0),
    created_at timestamptz NOT NULL
);

CREATE TABLE access.api_keys (
    id           uuid        NOT NULL PRIMARY KEY,
    project      uuid        NOT NULL REFERENCES access.projects (id),
    name         text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    digest       bytea       NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    scopes       text[]      NOT NULL CHECK (cardinality(scopes) > 0),
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz
);

CREATE INDEX api_keys_by_project ON access.api_keys (project, created_at, id);

-- The shared domain of a space has no host of its own: it is wherever the server answers.
CREATE TABLE access.domains (
    id         uuid        NOT NULL PRIMARY KEY,
    host       text        NOT NULL UNIQUE,
    space      integer     NOT NULL DEFAULT 0 CHECK (space >= 0),
    project    uuid        REFERENCES access.projects (id),
    created_at timestamptz NOT NULL,
    CHECK ((host = '') = (project IS NULL))
);
