import * as v from 'valibot'
import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { KINDS, type Kind, lookup } from '../../mapping/index.ts'
import type { AgentAnswer, AgentSession } from '../ask.ts'

export interface AgentTool {
  name: string
  /** The scope that its requests need; undefined: any of those of agents. */
  scope: 'search' | 'rules' | undefined
  doc: string
  input: v.GenericSchema<Record<string, unknown>>
  /** Members that every answer may have, by their types. */
  output: Readonly<Record<string, 'array' | 'object' | 'string' | 'boolean'>>
  /** What to do if an answer was too long. */
  rest: string
  changes: boolean
  run(input: Record<string, unknown>, session: AgentSession): Promise<AgentAnswer>
}

interface ToolOptions<E extends v.ObjectEntries> {
  scope?: 'search' | 'rules'
  input: E
  output: AgentTool['output']
  rest?: string
  changes?: boolean
  run(input: v.InferOutput<v.StrictObjectSchema<E, undefined>>, session: AgentSession): Promise<AgentAnswer>
}

export const agentTool = <E extends v.ObjectEntries>(
  name: string,
  doc: string,
  { scope, input, output, rest = 'Ask for less.', changes = false, run }: ToolOptions<E>,
): AgentTool => ({
  ...{ name, doc, scope, output, rest, changes },
  input: v.strictObject(input) as unknown as AgentTool['input'],
  run: run as unknown as AgentTool['run'],
})

/** The checked arguments of a call; refuses others by name. */
export const readToolInput = ({ input, name }: AgentTool, value: unknown): Record<string, unknown> =>
  readMember(name, input, value)

export const readMember = <T>(name: string, schema: v.GenericSchema<T>, value: unknown): T => {
  const { success, output, issues } = v.safeParse(schema, value)
  if (success) return output
  const { entries } = schema as unknown as { entries: v.ObjectEntries }
  const known = Object.keys(entries)
  const faults = issues.slice(0, 5).map(issue => {
    const path = (v.getDotPath(issue) ?? 'arguments').slice(0, 100)
    if (issue.expected !== 'never' && issue.received === 'undefined') return `${path} is missing.`
    if (issue.expected !== 'never') return `${path}: ${issue.message}.`
    return `${path} is not known: there are ${known.join(', ')}.${didYouMean(path, known)}`
  })
  throw refuse('bad_arguments', `${name}: ${faults.join(' ')}`)
}

export const textInput = v.string()
export const networkInput = textInput
const ENTITY = `one of ${KINDS.join(', ')}`
export const entityName = v.picklist(KINDS, ENTITY)
/** Where the description of another tool has the names. */
export const sameEntity = v.pipe(
  textInput,
  v.check(name => (KINDS as readonly string[]).includes(name), ENTITY),
  v.transform(name => name as Kind),
)
export const optionalInput = <S extends v.GenericSchema>(schema: S) => v.optional(schema)
export const textList = v.array(v.string())
export const countUpTo = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most))
/** A clause of the DSL, or a query in the syntax of Lucene. */
export const queryInput = v.union([v.string(), v.looseObject({})])

export const toClause = (query: string | object | undefined): object =>
  typeof query === 'string' ? { query_string: { query } } : (query ?? { match_all: {} })

/** The form of a field that can be sorted and counted, of all its values: agents name fields without it. */
export const comparablePath = (entity: Kind, name: string): string => {
  const base = name.replace(/\.(?:num|raw|dec)$/, '')
  if (isCoinAmount(entity, base)) return `${base}.dec`
  const field = lookup(entity, name)
  if (field && field.es !== 'text') return name
  return [`${name}.num`, `${name}.raw`].find(path => lookup(entity, path)) ?? name
}

/** Amounts of the native currency, of which many are larger than 64 bits. */
export const isCoinAmount = (entity: Kind, base: string): boolean => lookup(entity, `${base}.coin`) !== undefined
