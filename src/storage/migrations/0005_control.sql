-- What the control database holds: the map, the leases of processes, and the versions by which
-- reference tables are copied. Every database has these tables, since any may be the control
-- database; on the others they stay empty.

CREATE TABLE tenon.control (
    single            boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (single),
    map_version       bigint  NOT NULL DEFAULT 0,
    reference_version bigint  NOT NULL DEFAULT 0
);

INSERT INTO tenon.control DEFAULT VALUES;

CREATE TABLE tenon.map_nodes (
    position integer NOT NULL PRIMARY KEY CHECK (position >= 0),
    name     text    NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9-]{0,31}$'),
    conninfo text    NOT NULL
);

CREATE TABLE tenon.map_buckets (
    bucket integer NOT NULL PRIMARY KEY CHECK (bucket >= 0),
    node   text    NOT NULL REFERENCES tenon.map_nodes (name),
    epoch  bigint  NOT NULL CHECK (epoch > 0)
);

-- By statement and not by row: a change of a thousand buckets is one new version of the map.
CREATE FUNCTION tenon.count_map_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE tenon.control SET map_version = map_version + 1;  -- control_pkey
    RETURN NULL;
END
$$;

CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON tenon.map_nodes
FOR EACH STATEMENT EXECUTE FUNCTION tenon.count_map_change();

CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON tenon.map_buckets
FOR EACH STATEMENT EXECUTE FUNCTION tenon.count_map_change();

-- The whole map as JSON: version, nodes in their order, and for each bucket from 0 the position of
-- its node in that list and its epoch. NULL when there is none yet.
CREATE FUNCTION tenon.map() RETURNS jsonb
LANGUAGE sql STABLE
AS $$
    SELECT jsonb_build_object(
        'version', control.map_version,
        'nodes', (SELECT jsonb_agg(jsonb_build_object('name', name, 'conninfo', conninfo)
                                   ORDER BY position)
                  FROM tenon.map_nodes),
        'owners', (SELECT jsonb_agg(place.at - 1 ORDER BY owned.bucket)
                   FROM tenon.map_buckets AS owned
                   JOIN (SELECT name, row_number() OVER (ORDER BY position) AS at
                         FROM tenon.map_nodes) AS place ON place.name = owned.node),
        'epochs', (SELECT jsonb_agg(epoch ORDER BY bucket) FROM tenon.map_buckets))
    FROM tenon.control
    WHERE EXISTS (SELECT FROM tenon.map_buckets)
$$;

-- Who is alive, by the control database's clock. `number` is the node number of Snowflake ids.
CREATE TABLE tenon.processes (
    process     uuid        NOT NULL PRIMARY KEY,
    token       bigint      NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,  -- rises with each lease
    number      integer     NOT NULL UNIQUE CHECK (number BETWEEN 0 AND 1023),
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL
);
