import type { Document } from '../../documents/document.ts'
import { asBigint, asJson, readDocument } from '../../documents/show.ts'
import type { Kind } from '../../mapping/index.ts'
import type { ComparedDocument } from '../../query/compare.ts'
import { type ArgumentOfDocument, commonDecimals } from '../../query/shown-decimals.ts'
import { createEntries, type WindowEntries, type WindowEntry } from '../../windows/entries.ts'
import { measuresOf, type WindowSpec } from '../../windows/spec.ts'
import { attributeSteps } from '../attributes.ts'
import { kindOfTarget, type RuleConfig } from '../rule.ts'
import { documentBlock } from '../search.ts'
import { createDocumentReader } from './read.ts'
import { isSequence, sequenceParts, windowSpecOf } from './steps.ts'

/** A stored document that a rule matches; integers beyond a double are bigints. */
export interface StoredMatch extends ComparedDocument {
  _id: string
  /** Its place among all of its kind, where it comes from a store. */
  sort?: readonly [number]
}

/** A hit of a search in the order of the chain. */
export const storedMatchOf = ({
  document: { _id, _source, decoding },
  sort,
}: {
  document: Document
  sort: unknown[] | undefined
}): StoredMatch => ({
  ...{ _id, sort: [Number(sort![0])] as const },
  _source: readDocument(JSON.stringify(_source), asBigint) as Record<string, unknown>,
  ...(decoding && { decoding }),
})

/** What a rule with `when` finds in one block. */
export interface MatchedBlock {
  number: number
  entries: WindowEntry[]
  /** The last match of each entry. */
  lasts: StoredMatch[]
}

/**
 * Gathers matches, in the order of the chain, by their blocks. `add` returns a block when a match of the next
 * one comes.
 */
export const createStoredGathering = (config: RuleConfig) => {
  const kind = kindOfTarget(config.targetType)
  const reader = createDocumentReader<StoredMatch>(config.targetType, windowSpecOf(config))
  let block: { number: number; entries: WindowEntries<StoredMatch> } | undefined
  const finish = (): MatchedBlock | undefined => {
    const done = block
    block = undefined
    return done && { number: done.number, entries: done.entries.finish(), lasts: done.entries.lasts() }
  }
  return {
    add(match: StoredMatch): MatchedBlock | undefined {
      const { number } = documentBlock(match)
      const done = block?.number === number ? undefined : finish()
      block ??= { number, entries: createEntries(reader.measures, reader.of) }
      const document = withDecoding(kind, match)
      block.entries.add(reader.key(document), document)
      return done
    },
    finish,
  }
}

/** Documents show amounts as integers; what they are in units follows from the rounded ones beside them. */
export const withDecoding = <D extends ComparedDocument>(kind: Kind, document: D): D =>
  document.decoding || (kind !== 'event' && kind !== 'call')
    ? document
    : {
        ...document,
        decoding: { inputs: [], decimals: commonDecimals((document._source.args ?? []) as ArgumentOfDocument[]) },
      }

/** Fields of windows or steps that lie within an argument, which a document does not show. */
export const hiddenFields = (config: RuleConfig): string[] => {
  const parts = isSequence(config.when)
    ? sequenceParts(config).map(({ by, config: { targetType } }) => ({ targetType, names: by }))
    : [{ targetType: config.targetType, names: fieldsOf(windowSpecOf(config)) }]
  const hidden = parts.flatMap(({ targetType, names }) =>
    names.filter(name => isWithinArgument(kindOfTarget(targetType), [name])),
  )
  return [...new Set(hidden)]
}

const fieldsOf = (when: WindowSpec): string[] => [...(when.by ?? []), ...measuresOf(when).map(({ name }) => name)]

export const isWithinArgument = (kind: Kind, names: readonly string[]): boolean => {
  const [list, , ...inner] = attributeSteps(kind, names)
  return list === 'args' && inner.some(step => !SHOWN.has(step))
}
const SHOWN: ReadonlySet<string> = new Set(['value', 'hex', 'num', 'scaled', 'type'])

/** `_source` as JSON text, with all digits of its integers. */
export const wholeSourceText = ({ _source }: Pick<StoredMatch, '_source'>): string =>
  JSON.stringify(_source, (_, value) => (typeof value === 'bigint' ? asJson(value) : value))

export { canonicalKey as canonicalText } from '../../windows/window.ts'

/** Blocks and transactions have seconds, all else a date in UTC. */
export const secondsOf = ({ _source: { timestamp } }: Pick<StoredMatch, '_source'>): number =>
  typeof timestamp === 'string' ? Date.parse(`${timestamp}Z`) / 1_000 : Number(timestamp)
