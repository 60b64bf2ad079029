-- Reference tables: small, without a bucket, written in the control database and copied to every
-- node. A room makes one with a column `version bigint NOT NULL DEFAULT 0` and calls
-- tenon.make_reference. Rows are marked as ended, never deleted, so that a copy hears of it.

-- Which version of each table this database has a copy of.
CREATE TABLE tenon.reference_copies (
    name    text   NOT NULL PRIMARY KEY,
    version bigint NOT NULL
);

-- The next version for a row that is written here. The counter's row is locked until the commit, so
-- versions become visible in their order, and `version > last seen` misses nothing.
CREATE FUNCTION tenon.stamp_reference() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('tenon.copies', true) = 'on' THEN
        RETURN NEW;  -- a copy keeps the version that its row was given
    END IF;
    UPDATE tenon.control SET reference_version = reference_version + 1  -- control_pkey
    RETURNING reference_version INTO NEW.version;
    RETURN NEW;
END
$$;

CREATE FUNCTION tenon.make_reference(target regclass) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format('CREATE INDEX ON %s (version)', target);
    EXECUTE format('CREATE TRIGGER stamp_reference BEFORE INSERT OR UPDATE ON %s '
                   'FOR EACH ROW EXECUTE FUNCTION tenon.stamp_reference()', target);
    EXECUTE format('UPDATE %s SET version = 0', target);  -- stamps the rows that are there
END
$$;

-- The rows of a reference table that changed after a version, oldest change first, at most `most`.
-- `upto` is the version of the last, `total` how many there are.
CREATE FUNCTION tenon.reference_rows(target regclass, since bigint, most integer,
                                     OUT changed jsonb, OUT upto bigint, OUT total integer)
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(page) ORDER BY version), ''[]''), '
                   'coalesce(max(version), $1), count(*) '
                   'FROM (SELECT * FROM %s WHERE version > $1 ORDER BY version LIMIT $2) AS page',
                   target)
    INTO changed, upto, total
    USING since, most;
END
$$;

-- Writes such rows into this database's copy, unless it has newer ones, and notes how far it is.
CREATE FUNCTION tenon.copy_reference(target regclass, changed jsonb, upto bigint) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    keys text;
    settings text;
BEGIN
    PERFORM set_config('tenon.copies', 'on', true);
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO keys
    FROM pg_index AS i
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = target AND i.indisprimary;
    SELECT string_agg(format('%1$I = excluded.%1$I', attname), ', ' ORDER BY attnum) INTO settings
    FROM pg_attribute
    WHERE attrelid = target AND attnum > 0 AND NOT attisdropped;
    EXECUTE format('INSERT INTO %1$s AS kept '
                   'SELECT * FROM jsonb_populate_recordset(NULL::%1$s, $1) '
                   'ON CONFLICT (%2$s) DO UPDATE SET %3$s WHERE kept.version < excluded.version',
                   target, keys, settings)
    USING changed;
    INSERT INTO tenon.reference_copies AS copies (name, version)  -- reference_copies_pkey
    VALUES (target::text, upto)
    ON CONFLICT (name) DO UPDATE SET version = greatest(copies.version, excluded.version);
    PERFORM set_config('tenon.copies', 'off', true);
END
$$;
