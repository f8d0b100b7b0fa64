import { readFileSync, writeFileSync } from 'node:fs'
import { commandSettings } from '../src/app/cli/arguments.ts'
import { COMMANDS } from '../src/app/cli/commands/index.ts'
import { DEVIATIONS } from '../src/cluster/deviations.ts'
import { KNOWN_CHAINS } from '../src/config/chains.ts'
import { toggle } from '../src/config/kinds.ts'
import { placesOf, settingRows } from '../src/config/settings.ts'
import { openFunctions } from '../src/decode/functions.ts'
import { parseRegistry, parseTokens } from '../src/decode/registry.ts'
import { createErrors } from '../src/decode/reverts.ts'
import { READ_ONLY, UNSUPPORTED } from '../src/http/es/dispatch.ts'
import { OF_INDEXES, OF_SHARDS } from '../src/http/es/endpoint.ts'
import { ENDPOINTS } from '../src/http/es/index.ts'
import { COMMON_PARAMETERS } from '../src/http/openapi/schema.ts'
import { PROVIDERS } from '../src/limits/credits.ts'
import { LIMITS, type Limit } from '../src/limits/index.ts'
import {
  ENCODINGS,
  type Encoding,
  type Field,
  isListField,
  KINDS,
  type Kind,
  type ListField,
  MAPPING,
  type ValueComparison,
} from '../src/mapping/index.ts'
import { METRIC_TABLE, type MetricDeclaration } from '../src/metrics/table.ts'
import { AGGREGATIONS } from '../src/query/aggs/kinds/index.ts'
import type { AggregationKind } from '../src/query/aggs/kinds/kind.ts'
import { PIPELINES, REFUSED_PIPELINES } from '../src/query/aggs/pipelines/index.ts'
import { BODY_KEYS, IGNORED_KEYS } from '../src/query/body-keys.ts'
import type { Clause } from '../src/query/dsl/clause.ts'
import { CLAUSES } from '../src/query/dsl/index.ts'
import { SEARCH_PARAMETERS } from '../src/query/parameters.ts'
import { REFUSED_AGGREGATIONS, REFUSED_CLAUSES, REFUSED_KEYS } from '../src/query/refused.ts'
import { CHANNEL_NOTES, CHANNELS, type ChannelType, type Parameter } from '../src/rules/channels.ts'
import { ROOMS } from './layers.ts'

/**
 * Writes the parts of CONTRIBUTING and of docs/ that the code knows better, between `<!-- generated: name -->` and `<!-- end -->`:
 * `npm run docs`. A test fails while they are stale.
 */
type Parts = Readonly<Record<string, () => string>>

export const withGenerated = (page: string, parts: Parts, name: string): string => {
  const missing = new Set(Object.keys(parts))
  const text = page.replace(MARKED, (_, open: string, id: string, close: string) => {
    const part = parts[id]
    if (!part) throw new Error(`${name}: there is no generated part ${id}. Known are ${Object.keys(parts).join(', ')}`)
    missing.delete(id)
    return `${open}\n${part()}\n${close}`
  })
  if (missing.size > 0) throw new Error(`${name} has no place for the generated parts ${[...missing].join(', ')}`)
  return text
}

const MARKED = /(<!-- generated: ([\w-]+) -->)\n[\s\S]*?(<!-- end -->)/g

const code = (text: string) => `\`${text}\``

/** In a cell, a bar would end it. */
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

const commands = () =>
  table(
    ['Command', 'What it does'],
    COMMANDS.map(command => [code(`chainsieve ${command.name} ${command.usage}`.trimEnd()), command.summary]),
  )

const commandOptions = () => {
  const own = COMMANDS.flatMap(({ name, options }) =>
    Object.entries(options).map(([option, { kind, meaning }]) => [
      code(kind === toggle ? placesOf(option).flag : `${placesOf(option).flag} ${kind.placeholder}`),
      code(name),
      meaning,
    ]),
  )
  return table(['Option', 'Of', 'Meaning'], own)
}

/** Which commands take a setting as a flag; all take `data`, `config` and `json`. */
const takers = (flag: string): string => {
  const names = COMMANDS.filter(command =>
    Object.keys(commandSettings(command)).some(name => placesOf(name).flag === flag),
  )
  return names.length === COMMANDS.length ? 'all' : names.map(({ name }) => name).join(', ')
}

const settings = () =>
  table(
    ['Flag', 'Variable', 'In the file', 'Default', 'Meaning', 'Of'],
    settingRows().map(({ flag, env, file, takes, list, fallback, meaning }) => [
      code(flag),
      code(env),
      file && code(file),
      fallback && code(fallback),
      `${meaning} Takes ${takes}.${list ? ' May be repeated.' : ''}`,
      takers(flag),
    ]),
  )

const limits = () =>
  table(
    ['Limit', 'Default', 'What it limits', 'Beyond it'],
    Object.entries<Limit>(LIMITS).map(([name, { fallback, who, what, code: type, remedy }]) => [
      code(name),
      code(fallback),
      `${who}: ${what}`,
      `${code(type)}. ${remedy}`,
    ]),
  )

const clauses = () =>
  table(
    ['Clause', 'Meaning', 'Example, on events'],
    Object.entries<Clause>(CLAUSES).map(([name, { doc, example, on }]) => [
      code(name),
      doc,
      `${code(JSON.stringify({ [name]: example }))}${on ? ` on ${code(on)}` : ''}`,
    ]),
  )

const ignored = () =>
  [
    ...Object.entries(IGNORED_KEYS).map(([name, why]) => `Ignored: ${code(name)}, which ${why}.`),
    `Refused by name: ${Array.from(REFUSED_KEYS.keys(), code).join(', ')}.`,
  ].join('\n')

/** How an encoding is called in the reference. */
const TYPES = {
  hex: 'hex keyword',
  exact: 'keyword',
  token: 'text',
  long: 'long',
  integer: 'integer in digits',
  double: 'double',
  boolean: 'boolean',
  instant: 'date',
} as const satisfies Record<ValueComparison, string>

const typeOf = ({ kind, hidden }: Field): string => {
  if (hidden) return 'shown only'
  if (kind === 'flattened') return kind
  const encodings = Object.entries<Encoding>(ENCODINGS[kind])
  const text = encodings.map(([path, { compare }]) =>
    path === '' ? TYPES[compare] : `${code(`.${path}`)} ${TYPES[compare]}`,
  )
  return `${text.join(', ')}${kind === 'hexList' ? ', a list' : ''}`
}

const fieldRows = ([name, field]: [string, Field | ListField]): string[][] => {
  if (!isListField(field)) return [[code(name), typeOf(field), field.doc]]
  const members = Object.entries(field.members).map(([member, inner]) => [
    code(`${name}.${member}`),
    typeOf(inner),
    inner.doc,
  ])
  return [[code(name), field.list === 'nested' ? 'nested list' : 'list of objects', field.doc], ...members]
}

const fieldsOf = (kind: Kind): string =>
  [
    `## ${code(kind)}`,
    '',
    MAPPING[kind].doc,
    '',
    table(['Field', 'Type', 'Meaning'], Object.entries(MAPPING[kind].fields).flatMap(fieldRows)),
  ].join('\n')

const rooms = () =>
  table(
    ['Room', 'What it is for', 'Imports'],
    Object.entries(ROOMS).flatMap(([name, { is, folders = {}, may = [], types = [] }]) => [
      [
        code(name.includes('.') ? `src/${name}` : `src/${name}/`),
        is,
        [...may.toReversed(), ...types.toReversed().map(type => `${type} (types)`)].join(', ') || 'nothing',
      ],
      ...Object.entries(folders).map(([folder, purpose]) => [code(`${name}/${folder}/`), purpose, '']),
    ]),
  )

const registry = () => {
  const text = (name: string) => readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')
  const events = parseRegistry(text('events.txt'))
  const topics = new Set(events.map(({ topic0 }) => topic0))
  const functions = openFunctions(readFileSync(new URL('../data/functions.bin', import.meta.url)))
  const errors = createErrors(text('errors.txt'))
  const tokens = parseTokens(text('tokens.txt'))
  const count = (n: number) => n.toLocaleString('en')
  return `It knows ${count(events.length)} declarations of events under ${count(topics.size)} topics, ${count(functions.size)} functions and ${count(errors.size)} errors by their selector, and the decimals of ${count(tokens.length)} tokens.`
}

const aggregations = () =>
  table(
    ['Aggregation', 'What it computes', 'Example, on events'],
    Object.entries<AggregationKind>(AGGREGATIONS).map(([name, { doc, example, on }]) => [
      code(name),
      doc,
      `${code(JSON.stringify({ [name]: example }))}${on ? ` on ${code(on)}` : ''}`,
    ]),
  )

/** How far something is supported, and what of it is not. */
const supportOf = (limit: string | undefined) => (limit === undefined ? 'full' : 'partial')

const endpoints = () =>
  table(
    ['Endpoint', 'Methods', 'Support', 'What it answers'],
    ENDPOINTS.map(({ paths, methods, doc, limit }) => [
      paths.map(path => code(`/${path}`)).join(' '),
      methods.join(', '),
      supportOf(limit),
      limit === undefined ? doc : `${doc} ${limit}`,
    ]),
  )

const refusals = (head: string, all: Iterable<readonly [name: string, why: string]>) => () =>
  table(
    [head, 'What to use instead'],
    Array.from(all, ([name, why]) => [code(name), why]),
  )

const parameters = () =>
  table(
    ['URL parameter', 'Meaning'],
    [
      ...Object.entries(SEARCH_PARAMETERS).map(([name, { doc }]) => [code(name), doc]),
      [
        COMMON_PARAMETERS.map(code).join(' '),
        'At every endpoint. `filter_path` selects parts of the answer; the others change only its form.',
      ],
      [
        OF_INDEXES.map(code).join(' '),
        'Wherever index names are taken: what happens to names and patterns that match no index.',
      ],
      [OF_SHARDS.map(code).join(' '), 'Accepted. They choose among shards and replicas, and there is one shard.'],
    ],
  )

const documented = (head: string, all: Record<string, { doc: string; limit?: string }>) => () =>
  table(
    [head, 'Support', 'Meaning'],
    Object.entries(all).map(([name, { doc, limit }]) => [
      code(name),
      supportOf(limit),
      limit === undefined ? doc : `${doc} ${limit}`,
    ]),
  )

const COMPATIBILITY_PARTS: Parts = {
  endpoints,
  'read-only': () => READ_ONLY.map(code).join(', '),
  'refused-endpoints': refusals('Endpoint', UNSUPPORTED),
  parameters,
  keys: documented('Key', BODY_KEYS),
  'refused-keys': refusals('Key', REFUSED_KEYS),
  'supported-clauses': documented('Clause', CLAUSES),
  'refused-clauses': refusals('Clause', REFUSED_CLAUSES),
  'supported-aggregations': documented('Aggregation', { ...AGGREGATIONS, ...PIPELINES }),
  'refused-aggregations': refusals('Aggregation', [...REFUSED_AGGREGATIONS, ...Object.entries(REFUSED_PIPELINES)]),
}

export const README = new URL('../README.md', import.meta.url)

/** Where a pipeline aggregation stands, in Elasticsearch's words. */
const STANDS = { sibling: 'sibling', 'in buckets': 'parent', 'in histogram': 'parent, in a histogram' } as const

const pipelines = () =>
  table(
    ['Pipeline aggregation', 'Kind', 'What it computes', 'Example'],
    [
      ...Object.entries(PIPELINES).map(([name, { doc, example, stands }]) => [
        code(name),
        STANDS[stands],
        doc,
        code(JSON.stringify(example)),
      ]),
      ...Object.entries(REFUSED_PIPELINES).map(([name, instead]) => [code(name), 'refused', instead, '']),
    ],
  )

const prices = () =>
  table(
    ['Name', 'Hosts', 'Credits of a call', 'Source'],
    [...PROVIDERS].map(([name, { hosts, other, methods, perSecond = {}, chains, source }]) => [
      code(name),
      hostsIn(hosts),
      [
        ...Object.entries(methods).map(([method, credits]) => `${code(method)} ${credits}`),
        `others ${other}`,
        ...Object.entries(perSecond).map(([method, credits]) => `in a second ${code(method)} ${credits}`),
        ...[...(chains ?? [])].map(([id, factor]) => `chain ${id} times ${factor}`),
      ].join(', '),
      code(source.replace('https://', '')),
    ]),
  )

/** The names in the expression for hosts. */
const hostsIn = ({ source }: RegExp): string =>
  Array.from(source.matchAll(/[a-z0-9]+(?:\\\.[a-z0-9]+)+/g), ([host]) => code(host.replaceAll('\\', ''))).join(', ')

const chains = () =>
  table(
    [
      'Short name',
      'Network',
      'Chain id',
      'Native unit',
      'Block time',
      'Finality',
      'Blooms',
      'Traces by',
      'How it differs',
    ],
    [...KNOWN_CHAINS].map(([name, { network, id, symbol, blockMs, finality, skipBloom, traces, quirks }]) => [
      ...[code(name), code(network), String(id), symbol, `${blockMs / 1000} s`, String(finality)],
      ...[skipBloom ? 'not checked' : 'checked', traces === 'none' ? '' : code(traces), quirks],
    ]),
  )

const deviations = () =>
  table(
    ['Of a search', 'OpenSearch'],
    DEVIATIONS.map(({ what, answer }) => [what, answer]),
  )

/** Metrics of clusters are in a table of their own. */
const metricsWhere = (isOfCluster: boolean) => () =>
  table(
    ['Metric', 'Type', 'Labels', 'Meaning'],
    Object.entries<MetricDeclaration>(METRIC_TABLE)
      .filter(([name]) => name.startsWith('chainsieve_cluster_') === isOfCluster)
      .map(([name, [type, labels, help]]) => [
        code(name),
        type,
        labels.split(' ').filter(Boolean).map(code).join(', '),
        help,
      ]),
  )

const receivers = () =>
  table(
    ['`type`', '`parameters`', 'What is sent'],
    Object.entries<Record<string, Parameter>>(CHANNELS).map(([type, parameters]) => [
      code(type),
      Object.entries(parameters)
        .map(([name, { label, optional, choices, hint }]) => {
          const more = [...(optional ? ['optional'] : []), ...(choices ?? []).map(code)].join(', ')
          return `${code(name)}: ${label}${more && ` (${more})`}${hint && holdsNoToken(hint) ? `. ${hint.replace(/\.$/, '').replaceAll('https://', '')}` : ''}`
        })
        .join('; '),
      CHANNEL_NOTES[type as ChannelType],
    ]),
  )

/** The page explains tokens itself. */
const holdsNoToken = (hint: string) => !hint.includes('{')

/** Pages with generated parts, by their path. */
const PARTS: Readonly<Record<string, Parts>> = {
  'CONTRIBUTING.md': { rooms },
  'docs/alerts.md': { receivers },
  'docs/chains.md': { chains },
  'docs/commands.md': { commands, 'command-options': commandOptions },
  'docs/compatibility.md': COMPATIBILITY_PARTS,
  'docs/decoding.md': { registry },
  'docs/fields.md': { fields: () => KINDS.map(fieldsOf).join('\n\n') },
  'docs/handbook.md': { metrics: metricsWhere(false) },
  'docs/nodes.md': { prices },
  'docs/opensearch.md': { deviations, metrics: metricsWhere(true) },
  'docs/search.md': { clauses, ignored, aggregations, pipelines },
  'docs/settings.md': { settings, limits },
}

export const PAGES = Object.entries(PARTS).map(([name, parts]) => ({
  name,
  url: new URL(`../${name}`, import.meta.url),
  parts,
}))

if (import.meta.main)
  for (const { name, url, parts } of PAGES) writeFileSync(url, withGenerated(readFileSync(url, 'utf8'), parts, name))
