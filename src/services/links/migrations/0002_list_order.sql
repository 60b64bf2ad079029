-- A project's links, read backwards for newest first. New links come at the end of their project's
-- range, where pages split nearly full; in descending order every page was left half empty.
CREATE INDEX links_by_project_and_time ON links.links (project, created_at, code, domain);

DROP INDEX links.links_by_project;

ALTER INDEX links.links_by_project_and_time RENAME TO links_by_project;
