#include "app/docs_page.hpp"

namespace tenon::app {

std::string_view docs_page() {
    // Text from the document is set as textContent only, so nothing in it can become markup.
    return R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tenon API</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0 0 .5rem; } h2 { margin-top: 2.5rem; text-transform: capitalize; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; display: flex; gap: .75rem; flex-wrap: wrap; }
summary b { min-width: 4.5rem; font: 600 14px/1.7 ui-monospace, monospace; }
.inside { padding: 0 .75rem .75rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); } th { font-weight: 600; }
</style>
<h1>Tenon API</h1>
<p>The same as <a href="openapi.json">openapi.json</a>, for people.</p>
<main id="main">Reading openapi.json ...</main>
<script>
const make = (tag, text, ...children) => {
  const node = document.createElement(tag);
  if (text) node.textContent = text;
  node.append(...children);
  return node;
};
const named = (doc, schema) =>
  schema && schema.$ref ? doc.components.schemas[schema.$ref.split("/").pop()] : schema || {};
const typeOf = (doc, schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.type === "array") return "array of " + typeOf(doc, schema.items || {});
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type || "any";
  return schema.format ? type + " (" + schema.format + ")" : type;
};
const row = (...cells) => make("tr", "", ...cells.map((cell) => make("td", cell)));
const fields = (doc, schema) => {
  const real = named(doc, schema);
  const table = make("table");
  table.append(make("tr", "", make("th", "field"), make("th", "type"), make("th", "meaning")));
  const required = real.required || [];
  for (const [name, field] of Object.entries(real.properties || {}))
    table.append(row(name + (required.includes(name) ? "" : "?"), typeOf(doc, field),
                     field.description || ""));
  return table;
};
const example = (doc, schema) => {
  const real = named(doc, schema), made = {};
  for (const name of real.required || Object.keys(real.properties || {})) {
    const field = real.properties[name];
    made[name] = field.example !== undefined ? field.example : (field.examples || [""])[0];
  }
  return JSON.stringify(made);
};
const curl = (doc, method, path, operation) => {
  const url = location.origin + path;
  let text = "curl " + (method === "get" ? "" : "-X " + method.toUpperCase() + " ") + "'" + url + "'";
  if (operation.security && operation.security.length)
    text += " \\\n  -H 'Authorization: Bearer '$TENON_KEY";
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  if (body) text += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + example(doc, body.schema) + "'";
  return text;
};
const show = (doc, method, path, operation) => {
  const inside = make("div");
  inside.className = "inside";
  if (operation.description) inside.append(make("p", operation.description));
  inside.append(make("pre", curl(doc, method, path, operation)));
  if ((operation.parameters || []).length) {
    const table = make("table");
    table.append(make("tr", "", make("th", "parameter"), make("th", "in"), make("th", "meaning")));
    for (const parameter of operation.parameters) {
      const real = parameter.$ref
        ? doc.components.parameters[parameter.$ref.split("/").pop()] : parameter;
      table.append(row(real.name + (real.required ? "" : "?"), real.in, real.description || ""));
    }
    inside.append(table);
  }
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  if (body) inside.append(make("h4", "Body"), fields(doc, body.schema));
  for (const [status, response] of Object.entries(operation.responses || {})) {
    inside.append(make("h4", status + " " + (response.description || "")));
    const json = response.content && response.content["application/json"];
    if (json) inside.append(fields(doc, json.schema));
  }
  return make("details", "", make("summary", "", make("b", method.toUpperCase()),
    make("code", path), make("span", operation.summary || "")), inside);
};
fetch("openapi.json").then((response) => response.json()).then((doc) => {
  const main = document.getElementById("main");
  main.textContent = "";
  const groups = new Map();
  for (const [path, methods] of Object.entries(doc.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = (operation.tags || ["server"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(show(doc, method, path, operation));
    }
  for (const [tag, nodes] of groups) main.append(make("h2", tag), ...nodes);
}).catch((problem) => {
  document.getElementById("main").textContent = "openapi.json could not be read: " + problem;
});
</script>
</html>
)html";
}

}  // namespace tenon::app
