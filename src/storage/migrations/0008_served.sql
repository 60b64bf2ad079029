-- What this node serves, as one row: count and digest of the (bucket, epoch) pairs of all fences
-- that are not moved. Whoever reads over all nodes asks for it beside each page, and computing it
-- from a thousand fences costs several times what the page costs.

CREATE TABLE tenon.served (
    single boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    total  integer NOT NULL,
    digest bytea   NOT NULL
);

COMMENT ON TABLE tenon.served IS
    'SHA-256 of "BUCKET:EPOCH,BUCKET:EPOCH" in the order of buckets; kept right by a trigger.';

-- The lock first, then the fences, in a statement of its own with a snapshot that was taken after
-- the lock was granted: of two that change fences at once, the later sees what the earlier did.
CREATE FUNCTION tenon.note_served() RETURNS trigger
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    PERFORM FROM tenon.served FOR UPDATE;  -- served_pkey
    UPDATE tenon.served
    SET (total, digest) = (
        SELECT count(*)::integer,
               sha256(convert_to(coalesce(string_agg(bucket || ':' || epoch, ',' ORDER BY bucket),
                                          ''), 'UTF8'))
        FROM tenon.fences  -- read whole
        WHERE state <> 'moved');
    RETURN NULL;
END
$$;

INSERT INTO tenon.served (total, digest) VALUES (0, '');

-- By statement and not by row: a thousand fences that are filled at once are one computation.
CREATE TRIGGER note_served AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON tenon.fences
FOR EACH STATEMENT EXECUTE FUNCTION tenon.note_served();

UPDATE tenon.fences SET epoch = epoch WHERE false;  -- computes it from the fences that are there
