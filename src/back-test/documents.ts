import { isRecord } from '../lib/arrays.ts'
import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { compilePredicate } from '../query/predicate.ts'
import { leadsToArgument } from '../rules/attributes.ts'
import { lowerConditions, toDocumentQuery } from '../rules/lower.ts'
import { isLogic, kindOfTarget, listsIn, type RuleCondition, type RuleConfig, type RuleInput } from '../rules/rule.ts'
import { documentBlock, type RuleSimulation, type SimulatedEpisode } from '../rules/search.ts'
import { isAcross } from '../rules/windows/across.ts'
import { isSequence, windowSpecOf } from '../rules/windows/steps.ts'
import {
  createStoredGathering,
  hiddenFields,
  isWithinArgument,
  type StoredMatch,
  secondsOf,
  withDecoding,
} from '../rules/windows/stored.ts'
import { createWindowReplay, type Episode } from '../windows/replay.ts'
import { showEpisode } from './run.ts'

/** A document as a search returns it. */
export interface GivenDocument extends StoredMatch {
  _type: string
}

export interface GivenBlocks {
  from: number
  to: number
  documents: readonly GivenDocument[]
  /** Between blocks of which no document says the time. */
  blockSeconds: number
}

/** What a rule finds in documents, as if nothing else had happened in these blocks and before them. */
export const testDocuments = (
  { config }: RuleInput,
  { from, to, documents, blockSeconds }: GivenBlocks,
  { ruleKeys: keys, ruleRows: rows }: Limits,
): RuleSimulation => {
  const untested = whyUntested(config)
  if (untested !== undefined) throw refuse('documents_untested', untested)
  const kind = kindOfTarget(config.targetType)
  const matches = compilePredicate(kind, toDocumentQuery(kind, lowerConditions(config)))
  const ordered = inChainOrder(documents)
  const hits = ordered
    .filter(({ _type }) => _type === kind)
    .map(document => withDecoding(kind, document))
    .filter(document => matches(document))
  const found = {
    ...{ total: hits.length, complete: true, holes: [], fromBlock: from, toBlock: to, hits: hits.toReversed() },
  }
  const when = windowSpecOf(config)
  if (!when) return found
  const gathering = createStoredGathering(config)
  const blocks = [...hits.map(gathering.add), gathering.finish()].filter(block => block !== undefined)
  const entriesIn = new Map(blocks.map(({ number, entries }) => [number, entries]))
  const episodes: Episode[] = []
  const replay = createWindowReplay({
    ...{ spec: when, limits: { keys, rows }, start: from },
    opened: episode => void episodes.push(episode),
    ended() {},
  })
  const timeOf = timesOf(ordered, blockSeconds)
  // Nothing happened before the range: windows are whole from its begin on.
  if (from > 0) replay.step({ number: 0, time: Number.NEGATIVE_INFINITY }, [], true)
  for (let number = from; number <= to; number++)
    replay.step({ number, time: timeOf(number) }, entriesIn.get(number) ?? [], true)
  return {
    ...found,
    alerts: episodes.length,
    windows: {
      episodes: episodes.toReversed().map((episode): SimulatedEpisode => showEpisode(when, episode)),
      ...{ open: episodes.filter(({ ended }) => ended === null).length, undecided: [] },
    },
  }
}

const whyUntested = (config: RuleConfig): string | undefined => {
  if (config.targetType === 'State') return 'a State rule reads a node, and cannot be tested with documents'
  if (isSequence(config.when)) return 'a rule with steps cannot be tested: only what matches its first step is found'
  if (isAcross(config)) return 'a rule over several networks cannot be tested: documents are those of one'
  if (listsIn(config).length > 0) return 'documents hold no watch lists: write the values into a rule for the test'
  const fields = config.when ? hiddenFields(config) : []
  if (fields.length > 0)
    return `documents do not show ${fields.join(' and ')}, which lies within an argument: leave it out of the rule for the test`
  const place = hiddenCondition(kindOfTarget(config.targetType), config.targetMap)
  return place === undefined
    ? undefined
    : `documents do not show what ${place} looks at, which lies within an argument: test the rule with a range of stored blocks, without documents`
}

/** The place of the first condition that looks into an argument. */
const hiddenCondition = (
  kind: Kind,
  conditions: readonly RuleCondition[],
  path = 'config.targetMap',
  around: readonly string[] = [],
): string | undefined => {
  for (const [i, condition] of conditions.entries()) {
    const names = isLogic(condition) ? around : [...around, condition.name]
    const place = `${path}[${i}]`
    const isElement = !isLogic(condition) && condition.sameElement === true && leadsToArgument(kind, names)
    if (isElement || (!condition.operatorParameters && isWithinArgument(kind, names))) return place
    const inner = hiddenCondition(kind, condition.operatorParameters ?? [], `${place}.operatorParameters`, names)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Within a block by their places, as rules see them; those that tell none come last. */
const inChainOrder = (documents: readonly GivenDocument[]): GivenDocument[] =>
  documents
    .map(document => ({ document, places: placesInChain(document) }))
    .toSorted((a, b) => orderOfPlaces(a.places, b.places))
    .map(({ document }) => document)

const placesInChain = (document: GivenDocument): number[] => {
  const { logIndex, transactionIndex, transactionPosition, traceAddress } = document._source
  const { number } = documentBlock(document)
  if (logIndex !== undefined) return [number, placeShown(logIndex)]
  const steps = Array.isArray(traceAddress) ? traceAddress.map(placeShown) : []
  return [number, placeShown(transactionIndex ?? transactionPosition), ...steps]
}

const placeShown = (shown: unknown): number => {
  const place = Number((isRecord(shown) ? shown.num : shown) ?? Number.NaN)
  return Number.isNaN(place) ? Number.POSITIVE_INFINITY : place
}

/** What holds others comes before them. */
const orderOfPlaces = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((place, i) => place !== b[i])
  if (i < 0) return a.length - b.length
  return b[i] === undefined || a[i]! > b[i] ? 1 : -1
}

/** Times of blocks by those of documents; between two of them evenly. */
const timesOf = (documents: readonly GivenDocument[], blockSeconds: number): ((number: number) => number) => {
  const known = [...new Map(documents.map(it => [documentBlock(it).number, secondsOf(it)]))]
  let at = 0
  return number => {
    while (at + 1 < known.length && known[at + 1]![0] <= number) at++
    const [block, time] = known[at] ?? [0, 0]
    const next = known[at + 1]
    if (number < block || !next) return time + (number - block) * blockSeconds
    return Math.floor(time + ((number - block) * (next[1] - time)) / (next[0] - block))
  }
}
