-- Claims whose effect lies elsewhere: in another bucket, or at a provider. The claim is committed
-- first, as pending (tenon.claims.state 1), with a row here that says what was drawn for it and who
-- is at it. The row goes when the answer is recorded. Apart from tenon.claims, so that claims that
-- are settled at once, which most are, are no wider for it.

CREATE TABLE tenon.claim_holds (
    bucket  integer     NOT NULL,
    project uuid        NOT NULL,
    caller  text        NOT NULL,
    key     text        NOT NULL,
    kind    text        NOT NULL CHECK (kind <> ''),  -- which service can finish it
    drawn   text        NOT NULL CHECK (octet_length(drawn) <= 8192),  -- ids, as that service wrote
    hold    uuid        NOT NULL,  -- drawn anew by each who takes it; what it does is bound to it
    holder  bigint      NOT NULL,  -- token of its process's lease, which never repeats; 0: given up
    held_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (bucket, project, caller, key)
) PARTITION BY RANGE (bucket);

-- For the finisher, which looks for old ones.
CREATE INDEX claim_holds_held_at ON tenon.claim_holds (held_at);

SELECT tenon.partition_by_bucket('tenon.claim_holds');

-- Ids whose effect will never happen, in the effect's bucket. Kept longer than any writer may be
-- late.
CREATE TABLE tenon.tombstones (
    bucket     integer     NOT NULL,
    id         uuid        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (bucket, id)
) PARTITION BY RANGE (bucket);

-- For the reaper, which deletes by age.
CREATE INDEX tombstones_created_at ON tenon.tombstones (created_at);

SELECT tenon.partition_by_bucket('tenon.tombstones');

-- Begins the effect under ids that a pending claim drew, before its first statement. It and
-- tenon.undo exclude each other until the commit, so that either undo sees the effect, or the
-- effect meets the tombstone. Raises TN020 naming in DETAIL the ids that were undone.
--
-- The locks first, then the tombstones, in a statement of its own with a snapshot that was taken
-- after the locks were granted: see tenon.enter.
CREATE FUNCTION tenon.act(home integer, ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    undone text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1413828165, wanted.hash)
    FROM (SELECT DISTINCT uuid_hash(id) AS hash FROM unnest(ids) AS id ORDER BY 1 OFFSET 0)
         AS wanted;

    SELECT string_agg(id::text, ',') INTO undone
    FROM tenon.tombstones  -- tombstones_pkey
    WHERE bucket = home AND id = ANY (ids);

    IF undone IS NOT NULL THEN
        RAISE EXCEPTION 'an effect of this claim was undone'
            USING ERRCODE = 'TN020', DETAIL = undone;
    END IF;
END
$$;

-- From its commit on, no effect under these ids happens any more. Whoever calls it then looks, in
-- the same transaction, whether the effect was there before, and if so rolls back: what happened
-- stays.
CREATE FUNCTION tenon.undo(home integer, ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1413828165, wanted.hash)
    FROM (SELECT DISTINCT uuid_hash(id) AS hash FROM unnest(ids) AS id ORDER BY 1 OFFSET 0)
         AS wanted;

    INSERT INTO tenon.tombstones (bucket, id)  -- tombstones_pkey
    SELECT home, id FROM unnest(ids) AS id ORDER BY id
    ON CONFLICT DO NOTHING;
END
$$;
