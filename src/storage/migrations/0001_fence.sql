-- The fence: every write transaction proves here, on the node itself, that its buckets are still
-- owned under the epoch that its map names. A map held elsewhere may be stale for any time.

CREATE TABLE tenon.fences (
    bucket   integer PRIMARY KEY CHECK (bucket >= 0),
    state    text    NOT NULL CHECK (state IN ('active', 'read_only', 'moved')),
    epoch    bigint  NOT NULL CHECK (epoch > 0),
    timeline integer NOT NULL,
    target   text,
    CHECK ((state = 'moved') = (target IS NOT NULL))
) WITH (fillfactor = 70);

COMMENT ON TABLE tenon.fences IS
    'What this node may do with each bucket; timeline is the one it was last confirmed on.';

-- The timeline on which this server writes now. pg_control_checkpoint() would need no more rights,
-- but it tells the old timeline until the first checkpoint after a promotion.
CREATE FUNCTION tenon.timeline() RETURNS integer
LANGUAGE sql VOLATILE
AS $$
    SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer
$$;

-- Begins a write transaction on `buckets`, each under the epoch at its place in `epochs`.
--
-- The locks first, in bucket order; then the rows, in a statement of its own: under READ COMMITTED
-- in a VOLATILE function it has a snapshot that was taken after the locks were granted, and so sees
-- the fence that it waited for. Any other isolation level, or one statement for both, would read
-- the fence as it was before the wait.
--
-- Raises TN001 naming in DETAIL the buckets that are not (active, epoch, timeline), separated by
-- commas; TN002 when the isolation level is not READ COMMITTED.
CREATE FUNCTION tenon.enter(buckets integer[], epochs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan  -- planning anew costs more than the whole function
AS $$
DECLARE
    present integer := tenon.timeline();
    refused text;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'tenon.enter works under READ COMMITTED only'
            USING ERRCODE = 'TN002', HINT = 'Begin with ISOLATION LEVEL READ COMMITTED.';
    END IF;

    PERFORM pg_advisory_xact_lock_shared(1413828162, wanted.bucket)
    FROM (SELECT b AS bucket FROM unnest(buckets) AS b ORDER BY b OFFSET 0) AS wanted;

    SELECT string_agg(wanted.bucket::text, ',') INTO refused
    FROM unnest(buckets, epochs) AS wanted (bucket, epoch)
    WHERE NOT EXISTS (
        SELECT FROM tenon.fences AS fence  -- fences_pkey
        WHERE fence.bucket = wanted.bucket
          AND fence.state = 'active'
          AND fence.epoch = wanted.epoch
          AND fence.timeline = present
        OFFSET 0);  -- one look-up per bucket, never a join over all fences

    IF refused IS NOT NULL THEN
        RAISE EXCEPTION 'buckets are not owned here under the given epochs'
            USING ERRCODE = 'TN001', DETAIL = refused;
    END IF;
END
$$;

-- Ends a read of `buckets`: run after the reading statement, in the same round trip. A fence that
-- has not moved by now had not moved when that statement took its snapshot. Raises TN001 as above.
CREATE FUNCTION tenon.confirm(buckets integer[], epochs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    refused text;
BEGIN
    SELECT string_agg(wanted.bucket::text, ',') INTO refused
    FROM unnest(buckets, epochs) AS wanted (bucket, epoch)
    WHERE NOT EXISTS (
        SELECT FROM tenon.fences AS fence  -- fences_pkey
        WHERE fence.bucket = wanted.bucket
          AND fence.state <> 'moved'
          AND fence.epoch = wanted.epoch
        OFFSET 0);

    IF refused IS NOT NULL THEN
        RAISE EXCEPTION 'buckets are not owned here under the given epochs'
            USING ERRCODE = 'TN001', DETAIL = refused;
    END IF;
END
$$;
