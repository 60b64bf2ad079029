-- The fence once more, for sessions that plan each statement once (plan_cache_mode): a SET clause
-- on a function is pushed and popped at every call, which took a fifth of its time.

-- Begins a write transaction on `buckets`, each under the epoch at its place in `epochs`.
--
-- The locks first, in bucket order; then the rows, in a statement of its own: under READ COMMITTED
-- in a VOLATILE function it has a snapshot that was taken after the locks were granted, and so sees
-- the fence that it waited for. Any other isolation level, or one statement for both, would read
-- the fence as it was before the wait.
--
-- Raises TN001 naming in DETAIL the buckets that are not (active, epoch, timeline), separated by
-- commas; TN002 when the isolation level is not READ COMMITTED.
CREATE OR REPLACE FUNCTION tenon.enter(buckets integer[], epochs bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    present integer := tenon.timeline();
    granted boolean;
    refused text;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'tenon.enter works under READ COMMITTED only'
            USING ERRCODE = 'TN002', HINT = 'Begin with ISOLATION LEVEL READ COMMITTED.';
    END IF;

    IF cardinality(buckets) = 1 THEN
        -- An expression without a table is evaluated without a plan's start and end.
        granted := pg_advisory_xact_lock_shared(1413828162, buckets[1]) IS NOT NULL;
    ELSE
        PERFORM pg_advisory_xact_lock_shared(1413828162, wanted.bucket)
        FROM (SELECT b AS bucket FROM unnest(buckets) AS b ORDER BY b OFFSET 0) AS wanted;
    END IF;

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

ALTER FUNCTION tenon.confirm(integer[], bigint[]) RESET plan_cache_mode;
