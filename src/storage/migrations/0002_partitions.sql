-- Tables without a time axis are partitioned by bucket range, 16 parts for each space of 1024
-- buckets. A room's migration creates its table PARTITION BY RANGE (bucket) and then calls
-- tenon.partition_by_bucket for every space that exists; tenon.open_space does it for all such
-- tables when a space is added.

CREATE TABLE tenon.spaces (
    space     integer     PRIMARY KEY CHECK (space >= 0),
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

INSERT INTO tenon.spaces (space) VALUES (0);

-- Made apart and attached: CREATE TABLE ... PARTITION OF would take ACCESS EXCLUSIVE on the parent,
-- ATTACH PARTITION takes SHARE UPDATE EXCLUSIVE.
CREATE FUNCTION tenon.partition_by_bucket(parent regclass, space integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    home text := (SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n
                  ON n.oid = c.relnamespace WHERE c.oid = parent);
    family text := (SELECT relname FROM pg_class WHERE oid = parent);
    part text;
    low integer;
BEGIN
    FOR piece IN 0 .. 15 LOOP
        low := space * 1024 + piece * 64;
        part := format('%I.%I', home,
                       format('%s_s%s_%s', family, space, lpad(piece::text, 2, '0')));
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL)', part, parent);
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)',
                       parent, part, low, low + 64);
    END LOOP;
END
$$;

-- For a new table: its partitions in every space that is open.
CREATE FUNCTION tenon.partition_by_bucket(parent regclass) RETURNS void
LANGUAGE sql
AS $$
    SELECT tenon.partition_by_bucket(parent, space) FROM tenon.spaces ORDER BY space
$$;

-- For a new space: its partitions of every table that is partitioned by range of a bucket.
CREATE FUNCTION tenon.open_space(wanted integer) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO tenon.spaces (space) VALUES (wanted) ON CONFLICT DO NOTHING;
    PERFORM tenon.partition_by_bucket(p.partrelid::regclass, wanted)
    FROM pg_partitioned_table AS p
    JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
    WHERE p.partstrat = 'r' AND p.partnatts = 1 AND a.attname = 'bucket'
    ORDER BY p.partrelid::regclass::text;
END
$$;
