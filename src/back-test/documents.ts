import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { compilePredicate } from '../query/predicate.ts'
import { leadsToArgument } from '../rules/attributes.ts'
import { lowerConditions, toDocumentQuery } from '../rules/lower.ts'
import { isLogic, kindOfTarget, listsIn, type RuleCondition, type RuleConfig, type RuleInput } from '../rules/rule.ts'
import { documentBlock, type RuleSimulation, type SimulatedEpisode } from '../rules/search.ts'
import { createStateReader } from '../rules/state/readings.ts'
import { isAcross } from '../rules/windows/across.ts'
import { isSequence, lookedFor, type SequenceSpec, sequenceParts, sequenceShape } from '../rules/windows/steps.ts'
import {
  createStoredGathering,
  hiddenFields,
  isWithinArgument,
  type StoredMatch,
  secondsOf,
  withDecoding,
} from '../rules/windows/stored.ts'
import {
  orderOfPlaces,
  placeOfDocument,
  type TransactionPlaces,
  transactionPlaces,
} from '../rules/windows/stored-order.ts'
import { stepsInBlock, storedParts } from '../rules/windows/stored-steps.ts'
import type { WindowEntry } from '../windows/entries.ts'
import { createWindowReplay, type Episode } from '../windows/replay.ts'
import { createSequenceReplay } from '../windows/sequence-replay.ts'
import type { WindowBlock } from '../windows/window.ts'
import { showEpisode, showSequence } from './run.ts'
import { decidedBy } from './windows.ts'

/** A document as a search returns it. */
export interface GivenDocument extends StoredMatch {
  _type: Kind | 'state'
}

export interface GivenBlocks {
  from: number
  to: number
  documents: readonly GivenDocument[]
  /** Between blocks of which no document says the time. */
  blockSeconds: number
}

interface KindDocument extends StoredMatch {
  _type: Kind
}

interface GivenChain extends Pick<GivenBlocks, 'from' | 'to'> {
  /** In the order of the chain. */
  documents: readonly KindDocument[]
  transactions: TransactionPlaces
  /** Seconds of blocks; to be asked for in their order. */
  timeOf(number: number): number
}

/** What a rule finds in documents, as if nothing else had happened in these blocks and before them. */
export const testDocuments = (
  { config }: RuleInput,
  { from, to, documents, blockSeconds }: GivenBlocks,
  limits: Limits,
): RuleSimulation => {
  const untested = whyUntested(config)
  if (untested !== undefined) throw refuse('documents_untested', untested)
  if (config.targetType === 'State') return testReadings(config, { from, to, documents, blockSeconds }, limits)
  // The order of the search that returned them says nothing.
  const given = documents.flatMap(({ sort: _, _type, ...rest }) => (_type === 'state' ? [] : [{ ...rest, _type }]))
  const transactions = transactionPlaces(given)
  const ordered = inChainOrder(given, transactions)
  const chain = { from, to, documents: ordered, transactions, timeOf: timesOf(ordered, blockSeconds) }
  const hits = documentsFor(lookedFor(config)[0]!, ordered)
  const found = {
    ...{ total: hits.length, complete: true, holes: [], fromBlock: from, toBlock: to, hits: hits.toReversed() },
  }
  if (!config.when) return found
  const windows = isSequence(config.when)
    ? sequencesIn(config, config.when, chain, limits)
    : windowsIn(config, hits, chain, limits)
  return { ...found, ...windows }
}

/** The same of a rule that reads state, by readings. */
const testReadings = (
  config: RuleConfig,
  { from, to, documents, blockSeconds }: GivenBlocks,
  limits: Limits,
): RuleSimulation => {
  const readings = documents
    .filter(({ _type }) => _type === 'state')
    .map(({ _id, _source }) => ({ _id, _source: { ..._source, error: _source.error ?? null } }))
    .toSorted((a, b) => documentBlock(a).number - documentBlock(b).number)
  const reader = createStateReader(config.read!)
  const hits = readings.filter(({ _source }) => reader.matches(config)(_source))
  const found = { total: hits.length, complete: true, holes: [], fromBlock: from, toBlock: to, hits: hits.toReversed() }
  if (!config.when) return found
  const inBlocks = Map.groupBy(readings, reading => documentBlock(reading).number)
  const verdicts = reader.verdicts(config)
  const chain = { from, to, timeOf: timesOf(readings, blockSeconds) }
  return { ...found, ...replayEpisodes(config, chain, limits, number => verdicts(number, inBlocks.get(number) ?? [])) }
}

const documentsFor = (config: RuleConfig, documents: readonly KindDocument[]): KindDocument[] => {
  const kind = kindOfTarget(config.targetType)
  const matches = compilePredicate(kind, toDocumentQuery(kind, lowerConditions(config)))
  return documents
    .filter(({ _type }) => _type === kind)
    .map(document => withDecoding(kind, document))
    .filter(document => matches(document))
}

type FoundAlerts = Pick<RuleSimulation, 'alerts' | 'windows'>

const windowsIn = (
  config: RuleConfig,
  hits: readonly KindDocument[],
  chain: GivenChain,
  limits: Limits,
): FoundAlerts => {
  const gathering = createStoredGathering(config)
  const blocks = [...hits.map(gathering.add), gathering.finish()].filter(block => block !== undefined)
  const entriesIn = new Map(blocks.map(({ number, entries }) => [number, entries]))
  return replayEpisodes(config, chain, limits, number => entriesIn.get(number) ?? [])
}

const replayEpisodes = (
  config: RuleConfig,
  chain: Pick<GivenChain, 'from' | 'to' | 'timeOf'>,
  { ruleKeys: keys, ruleRows: rows }: Limits,
  entriesIn: (number: number) => readonly WindowEntry[],
): FoundAlerts => {
  const decided = decidedBy(config)
  const episodes: Episode[] = []
  const replay = createWindowReplay({
    ...{ ...decided, limits: { keys, rows }, start: chain.from },
    opened: episode => void episodes.push(episode),
    ended() {},
  })
  goThrough(chain, block => replay.step(block, entriesIn(block.number), true))
  return {
    alerts: episodes.length,
    windows: {
      episodes: episodes.toReversed().map((episode): SimulatedEpisode => showEpisode(decided.spec, episode)),
      ...{ open: episodes.filter(({ ended }) => ended === null).length, undecided: [] },
    },
  }
}

const sequencesIn = (
  config: RuleConfig,
  when: SequenceSpec,
  chain: GivenChain,
  { ruleKeys: keys, ruleRows: rows, ruleMatches: most }: Limits,
): FoundAlerts => {
  const found = storedParts(config).flatMap(part =>
    documentsFor(part.config, chain.documents).map(match => ({ part, match, number: documentBlock(match).number })),
  )
  const inBlocks = Map.groupBy(found, ({ number }) => number)
  const episodes: SimulatedEpisode[] = []
  const replay = createSequenceReplay({
    ...{ shape: sequenceShape(when), limits: { keys, rows }, start: chain.from, most },
    found: (sequence, now) => void episodes.push(showSequence(when, sequence, now)),
  })
  goThrough(chain, block => {
    const { matches } = stepsInBlock(block.number, inBlocks.get(block.number) ?? [], chain.transactions)
    replay.step(block, matches, true)
  })
  return { alerts: episodes.length, windows: { episodes: episodes.toReversed(), open: 0, undecided: [] } }
}

const goThrough = (
  { from, to, timeOf }: Pick<GivenChain, 'from' | 'to' | 'timeOf'>,
  step: (block: WindowBlock) => void,
) => {
  // Nothing happened before the range: windows are whole from its begin on.
  if (from > 0) step({ number: 0, time: Number.NEGATIVE_INFINITY })
  for (let number = from; number <= to; number++) step({ number, time: timeOf(number) })
}

const whyUntested = (config: RuleConfig): string | undefined => {
  if (isAcross(config)) return 'a rule over several networks cannot be tested: documents are those of one'
  if (listsIn(config).length > 0) return 'documents hold no watch lists: write the values into a rule for the test'
  if (config.targetType === 'State') return undefined
  const fields = config.when ? hiddenFields(config) : []
  if (fields.length > 0)
    return `documents do not show ${fields.join(' and ')}, which lies within an argument: leave it out of the rule for the test`
  const parts = isSequence(config.when) ? sequenceParts(config) : [{ config, path: 'config.targetMap' }]
  const place = parts
    .map(({ config: { targetType, targetMap }, path }) => hiddenCondition(kindOfTarget(targetType), targetMap, path))
    .find(it => it !== undefined)
  return place === undefined
    ? undefined
    : `documents do not show what ${place} looks at, which lies within an argument: test the rule with a range of stored blocks, without documents`
}

/** The place of the first condition that looks into an argument. */
const hiddenCondition = (
  kind: Kind,
  conditions: readonly RuleCondition[],
  path: string,
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
const inChainOrder = (documents: readonly KindDocument[], transactions: TransactionPlaces): KindDocument[] =>
  documents
    .map(document => ({
      document,
      places: [documentBlock(document).number, ...placeOfDocument(document._type, document, transactions)],
    }))
    .toSorted((a, b) => orderOfPlaces(a.places, b.places))
    .map(({ document }) => document)

/** Times of blocks by those of documents; between two of them evenly. */
const timesOf = (
  documents: readonly Pick<StoredMatch, '_source'>[],
  blockSeconds: number,
): ((number: number) => number) => {
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
