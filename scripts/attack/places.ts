import type { Described, OpenApi } from '../../src/http/description.ts'
import { type Fill, inUrl, type Own } from './fills.ts'

export interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** A place of a request that a caller can fill, and what it holds where the request works. */
export interface Place extends Own {
  operation: string
  /** Places of one group are read by the same code. */
  group: string
  /** `query fields`, `path index`, `body docs.0._id`, `name query.term.event`. */
  at: string
  takes: 'text' | 'json'
  /** Most bytes that it can hold, in a URL as they stand there. */
  bytes: number
  /** The request with this text, or this JSON, in the place. */
  put(text: string, is: Fill['is']): Request
}

/** What requests name that work: of a parameter, or a member of a body, by its name. `id` is another one in each path. */
export type Values = Readonly<Record<string, unknown>> & { id: (path: string) => string }

/**
 * Names that the description leaves open, and what they hold. A new one that is missing here fails the test of this table, as there would
 * be nothing to make larger.
 */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ technology: 'ethereum', blockchain: 'demo', network: 'local', index: 'tx,event', type: 'event' },
  ...{ address: `0x${'11'.repeat(20)}`, name: 'event', names: 'timestamp', document: 'a', size: 1, from: 0 },
  ...{
    fields: 'timestamp',
    field: 'event',
    analyzer: 'standard',
    text: 'One two',
    q: 'transfer',
    df: 'event',
    path: 'args',
    metrics: 'jvm',
  },
  ...{
    h: 'index',
    s: 'index',
    scroll: '1m',
    keep_alive: '1m',
    timeout: '9s',
    filter_path: 'hits',
    routing: 'a',
    rule: 1,
  },
  ...{
    _source: 'hash',
    _source_includes: 'hash',
    sort: [{ timestamp: 'desc' }],
    rules: '1',
    since: 'now-1d',
    buckets: 9,
  },
  ...{ docvalue_fields: ['timestamp'], stored_fields: ['_source'], search_after: [1], slice: { id: 0, max: 2 } },
  source: { query: { match_all: {} } },
  highlight: { fields: { '*': { number_of_fragments: 2, pre_tags: ['<b>'], highlight_query: { match_all: {} } } } },
  collapse: { field: 'blockHash', inner_hits: { name: 'more', size: 2, sort: [{ _id: 'asc' }] } },
  script_fields: {},
  params: { e: ['a'] },
  meta: { a: 'a' },
  docs: [{ _index: 'tx', _id: 'a', _source: ['hash'] }],
  url: 'http://127.0.0.1:9/',
  abi: [{ type: 'event', name: 'A', inputs: [{ name: 'a', type: 'uint256', indexed: true }] }],
  pit: { id: 'a', keep_alive: '1m' },
}

/** Bytes of a URL, which has to fit the head of a request beside a token. */
const URL_BYTES = 31_000

/** Every place of every operation. `known` is what this server has, in place of what would work anywhere. */
export const placesOf = (api: OpenApi, { body: bodyBytes }: { body: number }, known: Values): Place[] => {
  const values: Values = { ...VALUES, ...known }
  const instances = createInstances(api, values)
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const base = { operation: `${method.toUpperCase()} ${path}`, about: operation.summary, method, path, values }
      const bodies = bodiesOf(operation, instances)
      return [
        ...inUrls(api, operation, base, bodies[0]),
        ...bodies.flatMap(body => inBody(base, body, bodyBytes - 100_000)),
      ]
    }),
  )
}

interface Base {
  operation: string
  about: string
  method: string
  path: string
  values: Values
}

/** Values of JSON, each on a line of its own where there are several. */
interface Body {
  member: string | undefined
  group: string
  type: string
  lines: unknown[]
}

const pathWith = ({ path, values }: Base, name?: string, text?: string): string =>
  path.replace(/\{(\w+)\}/g, (_, part: string) =>
    part === name ? inUrl(text!) : inUrl(String(part === 'id' ? values.id(path) : (values[part] ?? missing(part)))),
  )

const missing = (name: string): never => {
  throw new Error(`say in the table VALUES of scripts/attack/places.ts what [${name}] holds`)
}

const inUrls = (api: OpenApi, operation: Described, base: Base, body: Body | undefined): Place[] => {
  const named = (operation.parameters ?? []).map(it =>
    it.$ref === undefined ? it : api.components.parameters[it.$ref.slice('#/components/parameters/'.length)]!,
  ) as { name: string; in: 'path' | 'query' | 'header' }[]
  const query = named.filter(it => it.in === 'query')
  const sent = (path: string, headers: Record<string, string> = {}): Request => ({
    ...{ method: base.method.toUpperCase(), path, headers: { ...headers, ...(body && { 'content-type': body.type }) } },
    body: body && textOf(body),
  })
  const places = named.map(({ name, in: where }): Place => {
    const own = name === 'id' ? base.values.id(base.path) : (base.values[name] ?? 'a')
    const text = typeof own === 'object' ? JSON.stringify(own) : String(own)
    const put = (it: string): Request =>
      where === 'path'
        ? sent(pathWith(base, name, it))
        : where === 'query'
          ? sent(`${pathWith(base)}?${name}=${inUrl(it)}`)
          : sent(pathWith(base), { [name]: it.replace(/[^\x20-\x7e]/g, '?') })
    return {
      ...{ operation: base.operation, group: `${base.about} in the URL`, at: `${where} ${name}`, text, json: own },
      ...{ takes: 'text', bytes: URL_BYTES - pathWith(base).length, put },
    }
  })
  // The same one again and again, and unknown ones.
  const pairs = [query[0]?.name ?? 'pretty', 'unknown'].map(
    (name): Place => ({
      ...{
        operation: base.operation,
        group: `${base.about} in the URL`,
        at: `pairs ${name}`,
        text: `${name}=1`,
        json: 1,
      },
      ...{ takes: 'text', bytes: URL_BYTES - pathWith(base).length },
      put: it => sent(`${pathWith(base)}?${inUrl(it).replaceAll(',', '&').replaceAll('%3D', '=')}`),
    }),
  )
  return [...places, ...pairs]
}

const bodiesOf = ({ requestBody }: Described, instances: Instances): Body[] => {
  const [type, { schema, example } = { schema: {} }] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type === undefined) return []
  const whole = { member: undefined, group: 'in the body', type }
  if (typeof example === 'string')
    return [
      {
        ...whole,
        lines: example
          .trim()
          .split('\n')
          .map(line => JSON.parse(line)),
      },
    ]
  const own = example === undefined ? [] : [{ ...whole, lines: [example] }]
  return [
    ...own,
    ...instances.named(schema, example).map(([name, value]) => {
      const [member, kind] = name.split('.')
      // Searches have the most to say: each clause and each aggregation counts by itself.
      const isOne = String(schema.$ref).endsWith('/SearchBody')
      const group = isOne ? `in [${member}]${/^(query|aggs)$/.test(member!) ? ` ${kind}` : ''}` : whole.group
      return { member, group, type, lines: [value] }
    }),
  ]
}

const textOf = ({ lines }: Body): string =>
  lines.length === 1 ? JSON.stringify(lines[0]) : lines.map(line => `${JSON.stringify(line)}\n`).join('')

/** Stands in a body where something else will stand. */
export const MARK = '\u0007'
const MARKED = JSON.stringify(MARK)

const inBody = (base: Base, body: Body, bytes: number): Place[] => {
  const { operation, about } = base
  const request = (text: string): Request => ({
    ...{ method: base.method.toUpperCase(), path: pathWith(base), headers: { 'content-type': body.type }, body: text },
  })
  const place = (at: string, own: unknown, marked: unknown[], takes: Place['takes']): Place => ({
    ...{ operation, group: `${about} ${body.group}`, at, json: own, takes, bytes },
    text: typeof own === 'string' ? own : JSON.stringify(own),
    put(text, is) {
      const [before, after] = textOf({ ...body, lines: marked }).split(MARKED) as [string, string]
      return request(`${before}${is === 'text' ? JSON.stringify(text) : text}${after}`)
    },
  })
  const whole = textOf(body)
  const again: Place = {
    ...{
      operation,
      group: `${about} ${body.group}`,
      at: 'all of the body',
      text: whole,
      json: 1,
      takes: 'text',
      bytes,
    },
    put: text => request(text.replaceAll(`${whole},`, whole)),
  }
  return [
    ...(body.lines.length > 1 ? [again] : []),
    ...[...pointers(body.lines)].flatMap(([at, own, isName, put]) =>
      at === '' || !(at === '0' || body.member === undefined || `${at}.`.startsWith(`0.${body.member}.`))
        ? []
        : [place(`${isName ? 'name' : 'body'} ${at}`, own, put(MARK) as unknown[], isName ? 'text' : 'json')],
    ),
  ]
}

/** Each value inside of another, and each name, with what puts something else in its place. */
function* pointers(
  value: unknown,
  at = '',
  put: (it: unknown) => unknown = it => it,
): Generator<[at: string, own: unknown, isName: boolean, put: (it: unknown) => unknown]> {
  yield [at, value, false, put]
  if (typeof value !== 'object' || value === null) return
  const inner = (name: string) => (at === '' ? name : `${at}.${name}`)
  if (Array.isArray(value))
    for (const [i, one] of value.entries()) yield* pointers(one, inner(String(i)), it => put(value.with(i, it)))
  else
    for (const [name, one] of Object.entries(value)) {
      yield* pointers(one, inner(name), it => put({ ...value, [name]: it }))
      const named = (it: unknown) =>
        put(Object.fromEntries(Object.entries(value).map(([key, own]) => [key === name ? it : key, own])))
      yield [inner(name), name, true, named]
    }
}

// biome-ignore lint/suspicious/noExplicitAny: a schema may have any keywords
type Schema = Record<string, any>
interface Instances {
  /** Values that the schema allows, with a name that tells which. */
  named(schema: Schema, example?: unknown): [name: string, value: unknown][]
}

/** Objects have one of their members more each time, beside those that they need: a value for each way of reading. */
const createInstances = (api: OpenApi, values: Values): Instances => {
  const schemas = api.components.schemas as Record<string, Schema>
  const byName: Record<string, (name: string, schema: Schema) => unknown> = {
    Query: (name, schema) => ({ [name]: schema.examples?.[0] ?? {} }),
    // Each stands in buckets, beside others that it may need.
    Aggregation: (name, schema) => ({
      ...(name === 'meta' || name.startsWith('agg')
        ? { filter: { match_all: {} }, [name]: name === 'meta' ? values.meta : AROUND.aggs }
        : { [name]: schema.examples?.[0] ?? { match_all: {} } }),
    }),
  }
  const named = (schema: Schema, example: unknown, depth: number, called: string): [string, unknown][] => {
    if (schema.$ref !== undefined) {
      const ref = String(schema.$ref).slice('#/components/schemas/'.length)
      const make = byName[ref]
      const inside = schemas[ref]!
      if (make === undefined) return named(inside, example, depth, called)
      return Object.entries<Schema>(inside.properties).map(([name, it]) => [name, make(name, it)])
    }
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return either.flatMap((it: Schema) => named(it, example, depth, called))
    if (schema.const !== undefined || schema.enum !== undefined) return [['', schema.const ?? schema.enum[0]]]
    if (called !== 'id' && Object.hasOwn(values, called) && schema.properties === undefined) {
      const own = values[called]
      return [['', schema.type === 'array' && !Array.isArray(own) ? [own] : own]]
    }
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'string' || Object.keys(schema).every(key => key === 'description')) return [['', 'a']]
    if (type === 'integer' || type === 'number') return [['', 1]]
    if (type === 'boolean') return [['', true]]
    if (type === 'null' || schema.maxProperties === 0) return []
    if (depth > DEEPEST) return []
    if (type === 'array')
      return named(schema.items ?? {}, undefined, depth + 1, called).map(([name, it]) => [name, [it]])
    if (typeof schema.additionalProperties === 'object')
      return named(schema.additionalProperties, undefined, depth + 1, '').map(([name, it]) => [
        name,
        {
          h: { ...AROUND.h, aggs: { ...AROUND.aggs, a: name.endsWith('_bucket') ? AROUND.aggs.gas : it } },
          ...(name.endsWith('_bucket') && { a: { [name]: { buckets_path: 'h>gas' } } }),
        },
      ])
    if (schema.properties === undefined && schema.required === undefined)
      return called === '' ? [['', {}]] : missing(called)
    const first = (name: string, it: Schema): unknown => named(it, undefined, depth + 1, name)[0]?.[1]
    const properties: Record<string, Schema> =
      schema.properties ?? Object.fromEntries(schema.required.map((name: string) => [name, { type: 'string' }]))
    const needed = {
      ...Object.fromEntries((schema.required ?? []).map((name: string) => [name, first(name, properties[name]!)])),
      ...(example as object | undefined),
    }
    return Object.entries(properties).flatMap(([name, it]) =>
      name === 'aggregations'
        ? []
        : named(it, undefined, depth + 1, name).map(([more, value]): [string, unknown] => [
            `${name}${more && `.${more}`}`,
            { ...needed, [name]: value },
          ]),
    )
  }
  return { named: (schema, example) => named(schema, example, 0, '') }
}

const DEEPEST = 6
/** A histogram whose many buckets repeat what stands in it. */
const AROUND = {
  h: { date_histogram: { field: 'timestamp', fixed_interval: '1s', min_doc_count: 1 } },
  aggs: { gas: { sum: { field: 'gasUsed.num' } }, n: { value_count: { field: 'timestamp' } } },
}
