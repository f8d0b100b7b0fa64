import { blockPoint, count } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { ChainsieveError, refuse } from '../../../lib/errors.ts'
import type { Limits } from '../../../limits/index.ts'
import type { RuleInput } from '../../../rules/rule.ts'
import { checkRule } from '../../../rules/schema.ts'
import type { Simulation } from '../../../rules/search.ts'
import { command, misused, type Streams } from '../../command.ts'
import { count as counted, showRanges, showTable, showText, showTime } from '../../show.ts'
import { nameOf, readJson, showFault } from './read.ts'

export const simulateRule = command({
  name: 'rules simulate',
  usage: 'FILE|ID [--from N|latest-K] [--to N|latest-K] [--size N]',
  summary: 'Shows how often a rule would have fired in the stored blocks, and the newest hits. Sends nothing.',
  settings: ['queryDeadline', 'limit'],
  options: {
    from: setting(blockPoint, undefined, 'First block to search. The default is the first stored block.'),
    to: setting(blockPoint, undefined, 'Last block to search. The default is the last stored block.'),
    size: setting(count(0, 1_000), '10', 'Number of hits to show.'),
  },
  arity: [1, 1],
  run: async ({ services, config, log, shutdown, args: [which = ''], options: { from, to, size }, streams, print }) => {
    if (from && to && 'block' in from && 'block' in to && to.block < from.block)
      throw misused(`The last block, ${to.block}, is before the first, ${from.block}.`)
    const rules = services.openRules(config, { log, shutdown })
    const rule = /^\d{1,15}$/.test(which)
      ? rules.get(Number(which)).input
      : await readRule(which, streams, config.limits)
    if (rule === undefined) return 1
    const simulation = await rules.simulate(rule, { from, to, size })
    print(config.json ? JSON.stringify(simulation) : show(rule, simulation))
    return 0
  },
})

/** The rule of a file; undefined if it is not one, after its faults are printed. Its receivers do not matter: nothing is sent. */
const readRule = async (file: string, { stdin, stderr }: Streams, limits: Limits): Promise<RuleInput | undefined> => {
  let value: unknown
  try {
    value = await readJson(file, stdin, limits)
  } catch (error) {
    throw error instanceof ChainsieveError
      ? refuse(error.code, `${nameOf(file)}: ${error.message}`, error.cause)
      : error
  }
  if (Array.isArray(value))
    throw refuse('many_rules', `${nameOf(file)} holds a list: put the one rule that is meant into a file of its own.`)
  const { rule, faults } = checkRule(value, { limits })
  for (const fault of faults) stderr.write(`${showText(showFault(file, fault), 2_000)}\n`)
  return rule
}

const show = (rule: RuleInput, { total, fromBlock, toBlock, holes, hits, warnings = [] }: Simulation): string => {
  const { name, technology, blockchain, network } = rule
  const blocks = fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock}-${toBlock}`
  const stored = holes.length === 0 ? blocks : `what is stored of ${blocks}`
  return [
    `${showText(name)} would have fired ${counted(total, 'time')} in ${stored} of ${technology}/${blockchain}/${network}.`,
    ...(holes.length === 0 ? [] : [`Not stored, and not looked at: ${showRanges(holes)}`]),
    ...warnings.map(warning => `Warning: ${showText(warning, 2_000)}`),
    ...(hits.length === 0 ? [] : [showTable(['BLOCK', 'ID', 'WHAT'], (hits as Hit[]).map(showHit))]),
  ].join('\n')
}

interface Hit {
  _id: string
  _type: string
  _source: Record<string, unknown>
}

const showHit = ({ _id, _type, _source }: Hit): string[] => {
  const block = (_source.blockNumber ?? _source.number) as { num: unknown }
  return [json(block.num), _id, showText((SUMMARIES[_type] ?? JSON.stringify)(_source))]
}

const json = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A document on one line, by its kind. */
const SUMMARIES: Record<string, (source: Record<string, unknown>) => string> = {
  event: ({ str, event, address }) => json(str ?? `${json(event)} of ${json(address)}`),
  log: ({ address, topics }) => `${json(address)} ${(topics as string[])[0] ?? 'without topics'}`,
  tx: ({ from, to, contractAddress, method, input, value }) => {
    const call = method ?? (input === '0x' ? 'transfer' : json(input).slice(0, 10))
    const receiver = to === null ? `creates ${json(contractAddress)}` : `to ${json(to)}`
    return `${to === null ? '' : `${json(call)} `}from ${json(from)} ${receiver}, value ${json((value as { coin: unknown }).coin)}`
  },
  block: ({ transactions, timestamp }) =>
    `${counted((transactions as unknown[]).length, 'transaction')} at ${showTime((timestamp as number) * 1000)}`,
}
