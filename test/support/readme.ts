import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { README } from '../../scripts/docs.ts'

const page = (path: string) => readFileSync(new URL(path, README), 'utf8')

/** What the docs show, for the tests that hold them against the program. */
export const readme = page('README.md')
export const contributing = page('CONTRIBUTING.md')
export const searchPage = page('docs/search.md')
export const alertsPage = page('docs/alerts.md')
export const cookbookPage = page('docs/cookbook.md')

/** Pages for users, by their path. Their examples run in this order, against one server. */
export const PAGES_OF_USERS: ReadonlyMap<string, string> = new Map(
  [
    'README.md',
    ...[
      ...['alerts', 'search-examples', 'search', 'fields', 'compatibility', 'grafana', 'cookbook', 'rules-in-git'],
      ...['install', 'indexing', 'nodes', 'importing', 'scopes', 'usdc-alerts', 'chains', 'networks', 'dev'],
      ...['decoding', 'accounts', 'commands', 'settings', 'opensearch', 'handbook', 'troubleshooting', 'management'],
      ...['threats', 'speed', 'internals', 'api', 'console', 'export', 'mcp'],
    ].map(name => `docs/${name}.md`),
  ].map(path => [path, page(path)]),
)

export interface Block {
  language: string
  text: string
}

export const blocksOf = (part: string): Block[] =>
  Array.from(part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm), ([, language, text]) => ({
    language: language!,
    text: text!,
  }))

/** The commands of shell texts, each with its continued lines. */
export const commandsOf = (text: string): string[][] => {
  const commands: string[][] = [[]]
  for (const [, quoted, doubly, end, plain] of text.replaceAll('\\\n', ' ').matchAll(WORD)) {
    if (end !== undefined) commands.push([])
    else commands.at(-1)!.push(quoted ?? doubly ?? plain!)
  }
  return commands.filter(words => words.length > 0)
}

/** A quoted word, the end of a command, or a plain word. */
const WORD = /'([^']*)'|"([^"]*)"|(\n|&&)|([^\s'"]+)/g

export interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** What a curl command sends; `token` stands for `$TOKEN`. */
export const requestOf = (words: readonly string[], token: string): Request => {
  const request: Request = { method: 'GET', path: '', headers: {}, body: undefined }
  let method: string | undefined
  const rest = words.slice(1)
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-s') continue
    if (word === '-X') method = rest.shift()!
    else if (word === '-H') {
      const [name = '', value = ''] = rest.shift()!.split(': ')
      request.headers[name] = value.replace('$TOKEN', token).replace('cs_…', token)
    } else if (word === '-u') {
      const credentials = rest.shift()!.replace('$TOKEN', token)
      request.headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    } else if (word === '-d') {
      request.method = 'POST'
      request.body = rest.shift()!
    } else {
      assert.match(word, /^http:\/\/127\.0\.0\.1:8640\//)
      request.path = word.slice('http://127.0.0.1:8640'.length)
    }
  }
  return method === undefined ? request : { ...request, method }
}

export const ask = async (
  url: string,
  { method, path, headers, body }: Request,
): Promise<{ status: number; answer: unknown }> => {
  const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) }
}

/** The answer with what is another one each time as it is shown: times and how long something took. */
export const asShown = (answer: unknown, shown: unknown): unknown => {
  if (Array.isArray(answer))
    return answer.map((inner, i) => asShown(inner, Array.isArray(shown) ? shown[i] : undefined))
  if (typeof answer !== 'object' || answer === null) return answer
  const of = (name: string) => (shown as Record<string, unknown> | null | undefined)?.[name]
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => {
      const isTime = TIMES.has(name) && typeof value === 'string' && ISO.test(value) && ISO.test(String(of(name)))
      return [name, isTime || VARYING.has(name) ? of(name) : asShown(value, of(name))]
    }),
  )
}

/** Of the server's clock; those of the chain are always the same. */
const TIMES = new Set(['createdAt', 'updatedAt', 'deliveredAt', 'receivedAt', 'changedAt', 'at', 'timestamp'])
/**
 * Durations, scores of suggestions, which change with every name that is known, what a machine has
 * room for, and how much a rule has found by then.
 */
const VARYING = new Set([
  ...['took', 'latencyMs', 'score', 'headAge', 'readers'],
  ...['triggerCount', 'cancelledDeliveries'],
])
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
