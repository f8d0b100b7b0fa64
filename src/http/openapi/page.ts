import { createHash } from 'node:crypto'
import { JSON_TYPE } from '../answer.ts'
import type { Described, DescribedResponse, OpenApi } from '../description.ts'
import { routesOf } from '../request.ts'
import { answerSchema, stringSchema as plainText, type Schema } from './schema.ts'

/** The description as a page: without scripts, and with nothing from elsewhere. */
export const apiPage = (api: OpenApi): string => {
  const { info, tags, paths, components } = api
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const sections = tags.map(({ name, description }) =>
    [
      `<h2 id="${escapeMarkup(name)}">${escapeMarkup(name)}</h2><p>${markCode(description)}</p>`,
      ...operations.filter(({ operation }) => operation.tags.includes(name)).map(it => operationOf(it, components)),
    ].join('\n'),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeMarkup(name)}"><summary><code>${escapeMarkup(name)}</code> ${markCode(String(schema.description ?? ''))}</summary>${schemaHtml(schema)}</details>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(info.title)} API</title><style>${STYLE}</style></head><body>
<h1>${escapeMarkup(info.title)} ${escapeMarkup(info.version)}</h1>
<p>${markCode(info.description)} <a href="openapi.json">openapi.json</a> is the same for programs.</p>
<nav>${[...tags.map(({ name }) => name), 'Schemas'].map(name => `<a href="#${escapeMarkup(name)}">${escapeMarkup(name)}</a>`).join(' ')}</nav>
${sections.join('\n')}
<h2 id="Schemas">Schemas</h2>
${schemas.join('\n')}
</body></html>
`
}

const operationOf = (
  { path, method, operation }: { path: string; method: string; operation: Described },
  { parameters, responses: known }: OpenApi['components'],
): string => {
  const { summary, parameters: named = [], requestBody, responses, operationId, security } = operation
  const rows = named.map(shown => {
    const {
      name,
      in: place,
      description = '',
      schema,
    } = shown.$ref === undefined ? shown : parameters[nameIn(shown.$ref)]!
    const values = (schema as { enum?: readonly string[] }).enum?.map(it => `\`${it || '""'}\``).join(', ')
    return `<tr><td><code>${escapeMarkup(String(name))}</code></td><td>${escapeMarkup(String(place))}</td><td>${markCode([description, values].filter(Boolean).join(' '))}</td></tr>`
  })
  const body = requestBody ? `<h4>Body</h4>${contentHtml(requestBody.content)}` : ''
  const answers = Object.entries(responses).map(([status, response]) => {
    const { description, content = {} }: DescribedResponse =
      '$ref' in response ? known[nameIn(response.$ref)]! : response
    return `<dt>${escapeMarkup(status)}: ${markCode(description)}</dt><dd>${contentHtml(content)}</dd>`
  })
  return `<details id="${escapeMarkup(operationId)}"><summary><b class="${escapeMarkup(method)}">${escapeMarkup(method.toUpperCase())}</b> <code>${escapeMarkup(path)}</code> ${markCode(summary)}${security ? ' <i>No token.</i>' : ''}</summary>
${rows.length > 0 ? `<h4>Parameters</h4><table>${rows.join('')}</table>` : ''}${body}<h4>Answers</h4><dl>${answers.join('')}</dl></details>`
}

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

const contentHtml = (content: Record<string, { schema: Schema }>): string =>
  Object.entries(content)
    .map(([type, { schema }]) => `<p><code>${escapeMarkup(type)}</code></p>${schemaHtml(schema)}`)
    .join('')

/** References are links to the schemas below. */
const schemaHtml = (schema: Schema): string =>
  `<pre>${escapeMarkup(JSON.stringify(schema, null, 2)).replace(
    /#\/components\/schemas\/(\w+)/g,
    (_, name: string) => `<a href="#schema-${name}">${name}</a>`,
  )}</pre>`

const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Text between backticks is code. */
const markCode = (text: string): string => escapeMarkup(text).replace(/`([^`]+)`/g, '<code>$1</code>')

const STYLE = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;color:#1b1f24;background:#fff}',
  'code,pre{font-family:ui-monospace,monospace;font-size:.875em}pre{background:#f3f4f6;padding:.75rem;overflow:auto}',
  'summary{cursor:pointer;padding:.25rem 0}details{border-bottom:1px solid #ddd}nav a{margin-right:1rem}',
  'b{display:inline-block;min-width:4.5rem}.get{color:#0550ae}.post{color:#116329}.put{color:#7d4e00}.delete{color:#a40e26}',
  'td{padding:.1rem 1rem .1rem 0;vertical-align:top}a{color:#0550ae}',
  '@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}pre{background:#161b22}a,.get{color:#79c0ff}.post{color:#7ee787}.put{color:#e3b341}.delete{color:#ff7b72}details{border-color:#30363d}}',
].join('')

/** Nothing is loaded, run, framed or sent from the page; its own style alone is used. */
const API_PAGE_HEADERS = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const descriptionRoute = routesOf<{ json(): string; page(): string }>('Server')

/** Open to everybody, since the docs are public, too. */
export const DESCRIPTION_ROUTES = [
  descriptionRoute(
    'get',
    '/openapi.json',
    'This description.',
    {
      open: true,
      described: [],
      answers: { 200: answerSchema({ type: 'object', required: ['openapi', 'info', 'paths'] }) },
    },
    ({ json }) =>
      () =>
        new Response(json(), { headers: JSON_TYPE }),
  ),
  descriptionRoute(
    'get',
    '/openapi',
    'This description, as a page to read.',
    {
      ...{ open: true, described: [] },
      answers: { 200: { description: 'The page.', content: { 'text/html': plainText } } },
    },
    ({ page }) =>
      () =>
        new Response(page(), { headers: API_PAGE_HEADERS }),
  ),
]
