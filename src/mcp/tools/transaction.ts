import { refuse } from '../../lib/errors.ts'
import { type AgentAnswer, type AgentSession, type FoundHit, type SearchResult, searchAllIn } from '../ask.ts'
import {
  CHAIN_TEXT,
  formatUnits,
  integerWith,
  type Showing,
  showAmount,
  showCoins,
  showDocument,
  showText,
} from '../show.ts'
import { factsOf, isAddressText } from '../tokens.ts'
import { agentTool, networkInput, textInput } from './tool.ts'

/** Documents of each kind that are read; the longest transactions have more. */
const MOST_STEPS = 300

export const explainTool = agentTool(
  'explain_transaction',
  'One transaction: call tree, decoded events, token movements, fee, and if it failed, why and where.',
  {
    scope: 'search',
    input: { network: networkInput, hash: textInput },
    output: {
      status: 'string',
      failure: 'object',
      calls: 'array',
      events: 'array',
      movements: 'array',
      truncated: 'boolean',
    },
    rest: 'Calls and events are cut: search the entities call, trace and event by transactionHash.',
    async run({ network, hash }, session) {
      if (!/^0x[0-9a-f]{64}$/i.test(hash))
        throw refuse('bad_hash', 'hash: write the hash of a transaction, 0x and 64 hex digits.')
      const [{ hits: transactions }, calls, traces, events] = await documentsOf(session, network, hash)
      const tx = transactions[0]?._source
      if (!tx) throw refuse('not_found', `${network} has no transaction ${hash}: networks tells the stored blocks.`)
      const { showing, names } = await namesFor(session, network, [
        tx,
        ...[...calls.hits, ...traces.hits, ...events.hits].map(({ _source }) => _source),
      ])
      const steps = stepsIn(tx, calls.hits, traces.hits)
      return {
        ...transactionSummary(tx, showing),
        ...(tx.status === false && { failure: explainFailure(tx, steps, showing) }),
        calls: steps.map(step => describeStep(step, showing)),
        events: events.hits.map(({ _source }) => describeEvent(_source, showing)),
        movements:
          tx.status === false ? [] : [...coinMovements(steps, showing), ...tokenMovements(events.hits, showing)],
        names,
        ...([calls, traces, events].some(({ total, hits }) => Number(total) > hits.length) && {
          truncated: true,
          next: 'Search the entities call, trace and event by transactionHash for the rest.',
        }),
        note: CHAIN_TEXT,
      }
    },
  },
)

const documentsOf = async (session: AgentSession, network: string, hash: string) => {
  const inside = { query: { term: { transactionHash: hash } }, size: MOST_STEPS, sort: ['_doc'] }
  return (await searchAllIn(session, network, [
    ['tx', { query: { ids: { values: [hash] } }, size: 1, _source: { excludes: ['logsBloom', 'input'] } }],
    ['call', inside],
    ['trace', { ...inside, _source: { excludes: ['action.input', 'action.init', 'result.output', 'result.code'] } }],
    ['event', inside],
  ])) as [SearchResult, SearchResult, SearchResult, SearchResult]
}

type DocumentValues = Record<string, unknown>

/** What is known of the addresses of a transaction: tokens, and contracts with names. */
const namesFor = async (
  session: AgentSession,
  network: string,
  sources: readonly DocumentValues[],
): Promise<{ showing: Showing; names: Record<string, string> }> => {
  const addresses = sources.flatMap(({ address, from, to, action }) => [
    address,
    from,
    to,
    (action as DocumentValues)?.to,
  ])
  const values = [...new Set(addresses.filter(isAddressText))].slice(0, MOST_STEPS)
  const byId = { query: { ids: { values } }, size: values.length }
  const [tokens, contracts] = (await searchAllIn(session, network, [
    ['token', { ...byId, _source: ['symbol', 'decimals', 'standard', 'address'] }],
    ['contract', { ...byId, _source: ['name', 'standard', 'address'] }],
  ])) as [SearchResult, SearchResult]
  const facts = new Map(tokens.hits.map(({ _id, _source }) => [_id.toLowerCase(), factsOf(_source)]))
  const named = [...contracts.hits, ...tokens.hits].map(({ _source }): [string, string] => {
    const words = [_source.symbol ?? _source.name, _source.standard].filter(it => typeof it === 'string')
    return [String(_source.address), words.map(word => showText(word as string)).join(' ') || 'contract']
  })
  return { showing: { currency: session.currencyOf(network), tokens: facts }, names: Object.fromEntries(named) }
}

const unitsOf = (value: unknown): bigint => {
  const { raw } = (value ?? {}) as { raw?: unknown }
  return typeof raw === 'string' ? BigInt(raw) : 0n
}

const transactionSummary = (tx: DocumentValues, showing: Showing): AgentAnswer => {
  const { hash, blockNumber, timestamp, from, to, method, value, status, gasUsed, gas, gasPrice, contractAddress } =
    showDocument(tx, showing)
  const price = unitsOf(tx.effectiveGasPrice ?? tx.gasPrice)
  return {
    ...{ hash, status: status === undefined ? 'unknown' : status ? 'success' : 'failed' },
    ...{ block: blockNumber, time: timestamp, from, to: to ?? null },
    ...(contractAddress !== undefined && { created: contractAddress }),
    ...{ method: method ?? null, value, gasUsed, gasLimit: gas, gasPrice },
    fee: showCoins(unitsOf(tx.gasUsed) * price, showing.currency),
  }
}

/** A step of the execution: its trace and its decoded call, as far as they are indexed. */
interface ExplainedStep {
  path: readonly string[]
  trace?: DocumentValues
  call?: DocumentValues
  error?: string
}

const stepsIn = (tx: DocumentValues, calls: readonly FoundHit[], traces: readonly FoundHit[]): ExplainedStep[] => {
  const steps = new Map<string, ExplainedStep>()
  const add = (kind: 'trace' | 'call', { _source }: FoundHit) => {
    const path = (_source.traceAddress ?? []) as string[]
    const error = kind === 'trace' && typeof _source.error === 'string' ? { error: traceReason(_source) } : {}
    steps.set(path.join(), { path, ...steps.get(path.join()), [kind]: _source, ...error })
  }
  for (const hit of traces) add('trace', hit)
  for (const hit of calls) add('call', hit)
  if (steps.size === 0) steps.set('', { path: [], call: tx })
  return [...steps.values()].sort((a, b) => compareOrder(a.path, b.path))
}

const traceReason = ({ error, revertReason }: DocumentValues): string =>
  [error, revertReason].filter(it => typeof it === 'string').join(': ')

const compareOrder = (a: readonly string[], b: readonly string[]): number => {
  const i = a.findIndex((one, i) => one !== b[i])
  if (i === -1) return a.length - b.length
  return b[i] === undefined ? 1 : Number(a[i]) - Number(b[i])
}

const explainFailure = (tx: DocumentValues, steps: readonly ExplainedStep[], showing: Showing): AgentAnswer => {
  const { error, revertName, revertAddress, revertTrace } = tx
  const path = ((revertTrace ?? []) as string[]).join()
  const step = steps.find(step => step.path.join() === path)
  return {
    reason: error == null ? 'The transaction failed; the stored data has no reason.' : showText(String(error)),
    ...(revertName != null && { name: showText(String(revertName)) }),
    ...(revertAddress != null && { in: showText(String(revertAddress)) }),
    ...(step && { call: describeStep(step, showing) }),
  }
}

/** `[0.1] call 0x… → 0x…: transfer(to=…, value=…), 1 ETH — Reverted`. */
const describeStep = ({ path, trace, call, error }: ExplainedStep, showing: Showing): string => {
  const action = (trace?.action ?? {}) as DocumentValues
  const type = trace?.callType ?? trace?.type ?? call?.callType ?? 'call'
  const [from, to] = [call?.from ?? action.from ?? action.address, call?.to ?? action.to ?? action.refundAddress]
  const created = (trace?.result as DocumentValues | undefined)?.address
  const value = unitsOf(action.value ?? call?.value)
  const shown = call && showDocument(call, showing)
  return [
    `[${path.join('.')}] ${showText(String(type))} ${String(from)} → ${String(to ?? created ?? 'nothing')}`,
    shown?.method === undefined ? '' : `: ${String(shown.method)}(${argumentsText(shown.args)})`,
    value > 0n ? `, ${showCoins(value, showing.currency)}` : '',
    error === undefined ? '' : ` — ${showText(error)}`,
  ].join('')
}

const argumentsText = (args: unknown): string =>
  Object.entries((args ?? {}) as DocumentValues)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ')

const describeEvent = (source: DocumentValues, showing: Showing): string => {
  const { event, args } = showDocument(source, showing)
  const index = (source.logIndex as { num?: string } | undefined)?.num
  return `#${index} ${String(source.address)}: ${String(event ?? 'not decoded')}(${argumentsText(args)})`
}

/** Steps that were reverted, or lie in one, move nothing. */
const coinMovements = (steps: readonly ExplainedStep[], { currency }: Showing): AgentAnswer[] => {
  const failed = steps.filter(({ error }) => error !== undefined).map(({ path }) => path.join('.'))
  return steps.flatMap(({ path, trace, call }) => {
    const action = (trace?.action ?? call ?? {}) as DocumentValues
    const place = path.join('.')
    const isUndone = failed.some(one => one === place || one === '' || place.startsWith(`${one}.`))
    const value = unitsOf(action.value)
    const type = String(trace?.callType ?? call?.callType ?? 'call')
    if (value === 0n || isUndone || type === 'delegatecall' || type === 'callcode') return []
    const to = action.to ?? (trace?.result as DocumentValues | undefined)?.address ?? null
    return [{ from: action.from, to, amount: showCoins(value, currency) }]
  })
}

interface Transferred {
  name: string
  value: { hex: string | null; type: string }
}

const tokenMovements = (events: readonly FoundHit[], { tokens }: Showing): AgentAnswer[] =>
  events.flatMap(({ _source: { event, args, address } }) => {
    const list = (args ?? []) as Transferred[]
    const offset = event === 'Transfer' ? 0 : event === 'TransferSingle' ? 1 : -1
    const [from, to, third, fourth] = list.slice(Math.max(0, offset))
    if (offset < 0 || from?.value.type !== 'address' || to?.value.type !== 'address') return []
    const token = tokens.get(String(address).toLowerCase())
    const number = (one: Transferred | undefined) => integerWith(one?.value.type ?? '', one?.value.hex ?? '')
    const [id, units] =
      offset === 1
        ? [number(third), number(fourth)]
        : /id$/i.test(third?.name ?? '')
          ? [number(third), 1n]
          : [undefined, number(third)]
    if (units === undefined) return []
    const amount = id === undefined ? showAmount(units, token) : `${formatUnits(units, 0)} of token id ${id}`
    return [{ from: from.value.hex, to: to.value.hex, amount, token: address }]
  })
