import { refuse } from '../../lib/errors.ts'
import type { Kind } from '../../mapping/index.ts'

/** Entities whose documents have arguments. */
export type CalledKind = Extract<Kind, 'event' | 'call'>

/** What all hits of a query have in common, from samples of them. */
export interface DeclaredArguments {
  kind: CalledKind
  /** Of the event or the function. */
  name: string
  args: {
    name: string
    type: string
    /** Whether a sample shows the value in whole tokens. */
    hasUnits: boolean
  }[]
}

const CALLED_NAMES = {
  event: { field: 'event', contract: 'address', what: 'event' },
  call: { field: 'method', contract: 'to', what: 'method' },
} as const satisfies Record<CalledKind, object>

/** Most names and contracts that are looked at. */
const SAMPLED_NAMES = 5
const SAMPLED_CONTRACTS = 50
/** Of one contract, as arguments of some may not have been decoded. */
const SAMPLES_EACH = 3

export const calledKind = (entities: string): CalledKind => {
  if (entities === 'event' || entities === 'call') return entities
  throw refuse(
    'illegal_argument_exception',
    `Columns of arguments need one entity, event or call, not ${entities}: name one of them.`,
  )
}

/** Members of the search that shows which arguments a query's hits have. */
export const samplesBody = (kind: CalledKind): Record<string, unknown> => {
  const { field, contract } = CALLED_NAMES[kind]
  const samples = { top_hits: { size: SAMPLES_EACH, sort: ['_doc'], _source: ['args'] } }
  const contracts = { terms: { field: `${contract}.raw`, size: SAMPLED_CONTRACTS }, aggs: { samples } }
  return {
    size: 0,
    aggs: { names: { terms: { field: `${field}.raw`, size: SAMPLED_NAMES }, aggs: { contracts } } },
  }
}

interface NameBucket {
  key: string
  doc_count: number
}
interface SampleArgument {
  name: string
  value: { type: string; scaled?: number | null }
}
interface SamplesAnswer {
  aggregations: {
    names: {
      sum_other_doc_count: number
      buckets: (NameBucket & {
        contracts: {
          buckets: (NameBucket & { samples: { hits: { hits: { _source: { args?: SampleArgument[] } }[] } } })[]
        }
      })[]
    }
  }
}

/** Reads the answer to a search with `samplesBody`. Refuses hits of several signatures. */
export const readDeclared = (kind: CalledKind, answer: string): DeclaredArguments => {
  const { names } = (JSON.parse(answer) as SamplesAnswer).aggregations
  const { field, contract, what } = CALLED_NAMES[kind]
  const [first, ...others] = names.buckets
  if (!first) throw refuse('no_signature', `The query selects no ${what}, so the columns of its arguments are unknown.`)
  if (others.length > 0) {
    const listed = names.buckets.map(({ key, doc_count }) => `${key} (${doc_count.toLocaleString('en')})`).join(', ')
    throw refuse(
      'several_signatures',
      `Columns of arguments need one ${what}, but the query selects ${listed}${names.sum_other_doc_count > 0 ? ' and others' : ''}. Add ${termCondition(`${field}.raw`, first.key)} to the query.`,
    )
  }
  const samples = first.contracts.buckets.flatMap(({ key, doc_count, samples }) =>
    samples.hits.hits.flatMap(({ _source: { args = [] } }) =>
      args.length > 0 ? [{ at: key, count: doc_count, args }] : [],
    ),
  )
  const [model] = samples
  if (!model) return { kind, name: first.key, args: [] }
  const types = typesOf(model.args)
  const other = samples.find(({ args }) => typesOf(args) !== types)
  if (other)
    throw refuse(
      'several_signatures',
      `Columns of arguments need one signature, but the query selects ${first.key}(${types}) of ${model.at} and ${first.key}(${typesOf(other.args)}) of ${other.at}. Add a condition such as ${termCondition(`${contract}.raw`, model.at)} to the query.`,
    )
  return {
    ...{ kind, name: first.key },
    // The names of the contract with the most hits, which comes first.
    args: model.args.map(({ name, value }, i) => ({
      ...{ name, type: value.type },
      hasUnits: samples.some(({ args }) => typeof args[i]!.value.scaled === 'number'),
    })),
  }
}

const typesOf = (args: readonly SampleArgument[]): string => args.map(({ value }) => value.type).join(',')

const termCondition = (field: string, value: string): string => JSON.stringify({ term: { [field]: value } })
