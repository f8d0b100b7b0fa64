import { readFileSync, writeFileSync } from 'node:fs'
import { settingsOf } from '../src/cli/arguments.ts'
import { COMMANDS } from '../src/cli/commands/index.ts'
import { toggle } from '../src/config/kinds.ts'
import { placesOf, settingRows } from '../src/config/settings.ts'
import { openFunctions } from '../src/decode/functions.ts'
import { parseRegistry, parseTokens } from '../src/decode/registry.ts'
import { LIMITS, type Limit } from '../src/limits/index.ts'
import {
  type Comparison,
  ENCODINGS,
  type Encoding,
  type Field,
  isList,
  KINDS,
  type Kind,
  type List,
  MAPPING,
} from '../src/mapping/index.ts'
import type { Clause } from '../src/query/dsl/clause.ts'
import { CLAUSES } from '../src/query/dsl/index.ts'
import { IGNORED_KEYS } from '../src/query/parse.ts'
import { ROOMS } from './layers.ts'

/**
 * Writes the parts of the README that the code knows better, between `<!-- generated: name -->` and `<!-- end -->`:
 * `npm run docs`. A test fails while they are stale.
 */
export const withGenerated = (readme: string): string => {
  const missing = new Set(Object.keys(PARTS))
  const text = readme.replace(MARKED, (_, open: string, name: string, close: string) => {
    const part = PARTS[name as keyof typeof PARTS]
    if (!part)
      throw new Error(`README.md: there is no generated part ${name}. Known are ${Object.keys(PARTS).join(', ')}`)
    missing.delete(name)
    return `${open}\n${part()}\n${close}`
  })
  if (missing.size > 0) throw new Error(`README.md has no place for the generated parts ${[...missing].join(', ')}`)
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
  const names = COMMANDS.filter(command => Object.keys(settingsOf(command)).some(name => placesOf(name).flag === flag))
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

const ignored = () => `In the body: ${IGNORED_KEYS.map(code).join(', ')}.`

/** How an encoding is called in the reference. */
const TYPES = {
  hex: 'hex keyword',
  exact: 'keyword',
  token: 'text',
  long: 'long',
  double: 'double',
  boolean: 'boolean',
  instant: 'date',
} as const satisfies Record<Comparison, string>

const typeOf = ({ kind, hidden }: Field): string => {
  if (hidden) return 'shown only'
  const encodings = Object.entries<Encoding>(ENCODINGS[kind])
  const text = encodings.map(([path, { compare }]) =>
    path === '' ? TYPES[compare] : `${code(`.${path}`)} ${TYPES[compare]}`,
  )
  return `${text.join(', ')}${kind === 'hexList' ? ', a list' : ''}`
}

const fieldRows = ([name, field]: [string, Field | List]): string[][] => {
  if (!isList(field)) return [[code(name), typeOf(field), field.doc]]
  const members = Object.entries(field.members).map(([member, inner]) => [
    code(`${name}.${member}`),
    typeOf(inner),
    inner.doc,
  ])
  return [[code(name), field.list === 'nested' ? 'nested list' : 'list of objects', field.doc], ...members]
}

const fieldsOf = (kind: Kind): string =>
  [
    `### ${code(kind)}`,
    '',
    MAPPING[kind].doc,
    '',
    table(['Field', 'Asked for as', 'Meaning'], Object.entries(MAPPING[kind].fields).flatMap(fieldRows)),
  ].join('\n')

const rooms = () =>
  table(
    ['Room', 'What it is for', 'Imports'],
    Object.entries(ROOMS).map(([name, { is, may = [], types = [] }]) => [
      code(name.includes('.') ? `src/${name}` : `src/${name}/`),
      is,
      [...may.toReversed(), ...types.toReversed().map(type => `${type} (types)`)].join(', ') || 'nothing',
    ]),
  )

const registry = () => {
  const text = (name: string) => readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')
  const events = parseRegistry(text('events.txt'))
  const topics = new Set(events.map(({ topic0 }) => topic0))
  const functions = openFunctions(readFileSync(new URL('../data/functions.bin', import.meta.url)))
  const tokens = parseTokens(text('tokens.txt'))
  const count = (n: number) => n.toLocaleString('en')
  return `It knows ${count(events.length)} declarations of events under ${count(topics.size)} topics, ${count(functions.size)} functions by their selector, and the decimals of ${count(tokens.length)} tokens.`
}

const PARTS = {
  commands,
  'command-options': commandOptions,
  settings,
  limits,
  clauses,
  ignored,
  fields: () => KINDS.map(fieldsOf).join('\n\n'),
  rooms,
  registry,
} satisfies Record<string, () => string>

export const README = new URL('../README.md', import.meta.url)

if (import.meta.main) writeFileSync(README, withGenerated(readFileSync(README, 'utf8')))
