-- Projects, keys and domains become reference tables: the control database has the masters, every
-- node a copy.
ALTER TABLE access.projects ADD COLUMN version bigint NOT NULL DEFAULT 0;
ALTER TABLE access.api_keys ADD COLUMN version bigint NOT NULL DEFAULT 0;
ALTER TABLE access.domains ADD COLUMN version bigint NOT NULL DEFAULT 0;

SELECT tenon.make_reference('access.projects');
SELECT tenon.make_reference('access.api_keys');
SELECT tenon.make_reference('access.domains');
