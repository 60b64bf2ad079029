-- Short links, found by (domain, code); the bucket is that of the code or the alias.
CREATE SCHEMA links;

CREATE TABLE links.links (
    bucket        integer     NOT NULL,
    domain        uuid        NOT NULL,
    code          text        NOT NULL COLLATE "C",
    project       uuid        NOT NULL,
    url           text        NOT NULL,
    status        smallint    NOT NULL DEFAULT 302 CHECK (status IN (301, 302, 307, 308)),
    forward_query boolean     NOT NULL DEFAULT false,
    title         text,
    expires_at    timestamptz,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (bucket, domain, code)
);

-- A project's links on this node, newest first; every node is asked and the pages are merged.
CREATE INDEX links_by_project ON links.links (project, created_at DESC, code DESC, domain DESC);

-- The next unused k of every bucket; processes lease ranges, so a crash skips numbers at most.
CREATE TABLE links.code_counters (
    bucket integer NOT NULL PRIMARY KEY,
    next_k bigint  NOT NULL CHECK (next_k >= 0)
);

-- Ends a transaction in which a claim was written but its link was not: another transaction took
-- the alias in between. DETAIL is the item's position in the batch.
CREATE FUNCTION links.refuse_taken(ord bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the alias of item % was taken meanwhile', ord
        USING ERRCODE = 'TN010', DETAIL = ord::text;
END
$$;

-- The key of the bijection between numbers and codes: made once, on every node, in every backup.
CREATE TABLE links.bijection (
    single boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    key    bytea   NOT NULL CHECK (octet_length(key) = 16)
);
