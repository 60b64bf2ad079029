-- Each space has a shared domain of its own, and none of them has a host.
ALTER TABLE access.domains DROP CONSTRAINT domains_host_key;

CREATE UNIQUE INDEX domains_host ON access.domains (host) WHERE project IS NOT NULL;

CREATE UNIQUE INDEX domains_shared ON access.domains (space) WHERE project IS NULL;
