-- Idempotency claims: who asked for what under which key, and what was answered. A claim lies in
-- the bucket of its effect and is written in the effect's transaction.

CREATE TABLE tenon.claims (
    bucket      integer     NOT NULL,
    project     uuid        NOT NULL,
    caller      text        NOT NULL,  -- subject of an end-user token; empty for API keys
    key         text        NOT NULL,  -- the client's Idempotency-Key
    fingerprint bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    state       smallint    NOT NULL CHECK (state IN (0, 1)),  -- 0 settled, 1 pending
    outcome     text        NOT NULL,  -- empty for success, else the slug of the domain error
    answer      text        NOT NULL,  -- output struct or the error's detail, JSON
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (bucket, project, caller, key)
) PARTITION BY RANGE (bucket);

-- For the reaper, which deletes by age.
CREATE INDEX claims_created_at ON tenon.claims (created_at);

SELECT tenon.partition_by_bucket('tenon.claims');
