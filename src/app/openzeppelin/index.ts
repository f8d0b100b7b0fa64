import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { KNOWN_CHAINS } from '../../config/chains.ts'
import { isRecord } from '../../lib/arrays.ts'
import { messageOf, refuse } from '../../lib/errors.ts'
import { keccakHex } from '../../lib/keccak.ts'
import type { Limits } from '../../limits/index.ts'
import type { Action, RuleCondition, RuleInput, TargetType } from '../../rules/rule.ts'
import { checkRule } from '../../rules/schema.ts'
import { readExpression } from './expression.ts'
import { createPart, type FilePart, type Lack } from './file-part.ts'
import { readReceiver } from './receivers.ts'

export interface ImportedRules {
  /** Files of rules, by their names. */
  files: { file: string; rules: RuleInput[] }[]
  lacks: Lack[]
}

interface ImportOptions {
  env: Readonly<Record<string, string | undefined>>
  limits: Limits
}

/** The configuration of an OpenZeppelin Monitor as rules, and every line that has no counterpart. */
export const readMonitors = (folder: string, { env, limits }: ImportOptions): ImportedRules => {
  const lacks: Lack[] = []
  const networks = new Map(
    configFiles(folder, 'networks', lacks).flatMap(part => {
      const slug = part.member('slug').text()
      return slug === undefined ? [] : [[slug, readNetwork(part)] as const]
    }),
  )
  const triggers = new Map(
    configFiles(folder, 'triggers', lacks).flatMap(part =>
      Object.keys(isRecord(part.value) ? part.value : {}).map(id => [id, part.member(id)] as const),
    ),
  )
  const receivers = new Map<string, Action | undefined>()
  const receiverOf = (id: FilePart, target: TargetType): Action[] => {
    const trigger = triggers.get(id.text() ?? '')
    if (!trigger) id.lack('there is no trigger of this name.')
    if (!trigger) return []
    const key = JSON.stringify([id.value, target])
    if (!receivers.has(key)) receivers.set(key, readReceiver(trigger, target, env))
    const receiver = receivers.get(key)
    return receiver ? [receiver] : []
  }
  const files = configFiles(folder, 'monitors', lacks).map(part => ({
    file: basename(part.file),
    rules: readMonitor(part, networks, receiverOf).flatMap(rule => {
      const { faults } = checkRule(rule, { limits })
      for (const { path, message } of faults)
        part.lack(`the rule ${JSON.stringify(rule.name)} is not written: ${path}: ${message}`)
      return faults.length === 0 ? [rule] : []
    }),
  }))
  return { files: files.filter(({ rules }) => rules.length > 0), lacks: distinctLacks(lacks) }
}

/** One trigger may serve several rules. */
const distinctLacks = (lacks: readonly Lack[]): Lack[] => [
  ...new Map(lacks.map(it => [JSON.stringify(it), it])).values(),
]

/** Writes the rules to new files of a folder. */
export const writeRuleFiles = (folder: string, { files }: Pick<ImportedRules, 'files'>): void => {
  mkdirSync(folder, { recursive: true })
  for (const { file, rules } of files) {
    const path = join(folder, file)
    try {
      writeFileSync(path, `${JSON.stringify(rules, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      throw refuse('file_exists', `${path} cannot be written: ${messageOf(error)}. Name another folder.`, error)
    }
  }
}

const configFiles = (folder: string, name: string, lacks: Lack[]): FilePart[] => {
  let names: string[]
  try {
    names = readdirSync(join(folder, name))
      .filter(it => it.endsWith('.json'))
      .sort()
  } catch (error) {
    throw refuse(
      'no_monitors',
      `${join(folder, name)} cannot be read: ${messageOf(error)}. Name the folder "config" of the monitor, which has monitors, networks and triggers.`,
      error,
    )
  }
  return names.flatMap(it => {
    const file = `${name}/${it}`
    try {
      return [createPart(file, JSON.parse(readFileSync(join(folder, name, it), 'utf8')), lacks)]
    } catch (error) {
      lacks.push({ file, path: '', message: `it is not JSON: ${messageOf(error)}` })
      return []
    }
  })
}

interface MonitoredNetwork {
  /** Undefined if rules cannot be for it. */
  network: string | undefined
  confirmations: number
}

/** Settings of a server, which rules do not have. */
const MATTERS_OF_SERVER = ['rpc_urls', 'cron_schedule', 'max_past_blocks', 'store_blocks', 'block_tracking_tolerance']

const readNetwork = (part: FilePart): MonitoredNetwork => {
  const [slug, chainId, depth] = ['slug', 'chain_id', 'confirmation_blocks'].map(name => part.member(name).value)
  for (const name of MATTERS_OF_SERVER)
    if (part.member(name).value !== undefined && part.member(name).value !== null)
      part
        .member(name)
        .lack(
          `it is no matter of rules: ${name === 'rpc_urls' ? 'name nodes with --rpc' : 'the server follows the chain by itself'}.`,
        )
  part.only([...MATTERS_OF_SERVER, 'network_type', 'slug', 'name', 'chain_id', 'confirmation_blocks', 'block_time_ms'])
  const confirmations = typeof depth === 'number' ? depth : 0
  if (part.member('network_type').value !== 'EVM') {
    part.member('network_type').lack('only chains of the EVM are indexed: its monitors make no rules.')
    return { network: undefined, confirmations }
  }
  const known = [...KNOWN_CHAINS.values()].find(({ id }) => id === chainId)
  const network =
    known?.network ??
    `ethereum/${String(slug)
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')}/mainnet`
  if (!known)
    part.member('chain_id').lack(`no chain of this id is known: its rules are for ${network}. Name the network so.`)
  return { network, confirmations }
}

type RuleBody = Pick<RuleInput['config'], 'targetType' | 'targetMap'> & { label: string; isWhole: boolean }

const readMonitor = (
  part: FilePart,
  networks: ReadonlyMap<string, MonitoredNetwork>,
  receiversOf: (id: FilePart, target: TargetType) => Action[],
): RuleInput[] => {
  part.only(['name', 'paused', 'networks', 'addresses', 'match_conditions', 'triggers', 'trigger_conditions'])
  const name = part.member('name').text() ?? basename(part.file, '.json')
  const scripts = part.member('trigger_conditions').elements()
  for (const script of scripts)
    script.lack('there are no scripts: its rules are written paused, as they would find more.')
  const addresses = part.member('addresses').elements().flatMap(monitoredAddress)
  const bodies = readMatchConditions(part.member('match_conditions'), addresses)
  const slugs = part.member('networks').elements()
  return slugs.flatMap(slug => {
    const known = networks.get(slug.text() ?? '')
    if (!known) slug.lack('there is no network of this name.')
    if (known?.network === undefined) return []
    const [technology = '', blockchain = '', network = ''] = known.network.split('/')
    return bodies.map(
      ({ label, isWhole, ...body }): RuleInput => ({
        name: [name, ...(bodies.length > 1 ? [label] : []), ...(slugs.length > 1 ? [String(slug.value)] : [])].join(
          ': ',
        ),
        ...{ maxConfirmationCount: known.confirmations, technology, blockchain, network },
        ...((part.member('paused').value === true || scripts.length > 0 || !isWhole) && { enabled: false }),
        config: {
          ...body,
          alerts: part
            .member('triggers')
            .elements()
            .flatMap(id => receiversOf(id, body.targetType)),
        },
      }),
    )
  })
}

const monitoredAddress = (part: FilePart): string[] => {
  part.only(['address', 'abi', 'contract_spec'])
  for (const name of ['abi', 'contract_spec'])
    if (part.member(name).value) part.member(name).lack('add the ABI to the server: chainsieve abi add FILE.')
  const address = part.member('address').text()
  return address === undefined ? [] : [address]
}

const anyAddress = (name: string, value: string[]): RuleCondition[] =>
  value.length === 0 ? [] : [{ name, operator: 'Equals any (ignore case)', value }]

const readMatchConditions = (part: FilePart, addresses: string[]): RuleBody[] => {
  part.only(['events', 'functions', 'transactions'])
  const transactions = part.member('transactions').elements()
  const events = part.member('events').elements()
  const functions = part.member('functions').elements()
  if (events.length + functions.length === 0) return readTransactions(transactions, addresses, part)
  // Transactions of all alternatives must be so, too.
  const statuses = new Set(transactions.map(it => it.member('status').value))
  const [status] = statuses.size === 1 ? statuses : ['Any']
  const withoutExpressions = transactions.map(it => {
    if (!it.member('expression').value) return true
    it.member('expression').lack('a rule looks at the transaction or at what is in it: its rules are written paused.')
    return false
  })
  const isWhole = withoutExpressions.every(is => is)
  return [
    ...events.flatMap((it): RuleBody[] => {
      if (status === 'Failure') return without(it, 'a transaction that failed has no events.')
      const { name, signature } = readSignature(it)
      const inside = readInside(it)
      const targetMap: RuleCondition[] = [
        ...anyAddress('address', addresses),
        { name: 'event', operator: 'Equals', value: name },
        ...inside.conditions,
      ]
      return [{ label: signature, isWhole: isWhole && inside.isWhole, targetType: 'Event', targetMap }]
    }),
    ...functions.map((it): RuleBody => {
      const { signature } = readSignature(it)
      const inside = readInside(it)
      const selector = keccakHex(signature).slice(0, 10)
      const targetMap: RuleCondition[] = [
        ...anyAddress('to', addresses),
        { name: 'selector', operator: 'Equals', value: selector },
        ...(status === 'Success' || status === 'Failure'
          ? [{ name: 'reverted', operator: 'Equals' as const, value: String(status === 'Failure') }]
          : []),
        ...inside.conditions,
      ]
      return { label: signature, isWhole: isWhole && inside.isWhole, targetType: 'Method', targetMap }
    }),
  ]
}

/** Reports what makes no rule. */
const without = (part: FilePart, why: string): RuleBody[] => {
  part.lack(why)
  return []
}

const readSignature = (part: FilePart): { name: string; signature: string } => {
  part.only(['signature', 'expression'])
  const signature = (part.member('signature').text() ?? '').replaceAll(/\s/g, '')
  const [name = ''] = signature.split('(')
  return { name, signature }
}

/** Conditions on the arguments. */
const readInside = (part: FilePart): { conditions: RuleCondition[]; isWhole: boolean } => {
  const { conditions, isWhole } = readConditionsOf(part.member('expression'), name => name)
  if (conditions.length === 0) return { conditions, isWhole }
  return { conditions: [{ name: 'args', operator: 'Inspect', operatorParameters: conditions }], isWhole }
}

const readConditionsOf = (part: FilePart, nameOf: (name: string) => string | undefined) => {
  const text = part.text()
  if (text === undefined || text.trim() === '') return { conditions: [], isWhole: true }
  const found = readExpression(text, nameOf)
  if ('conditions' in found) return { conditions: found.conditions, isWhole: true }
  part.lack(`${found.lacking}: the rule is written paused, without the expression.`)
  return { conditions: [], isWhole: false }
}

const TRANSACTION_FIELDS: Readonly<Record<string, string>> = {
  ...{ value: 'value', from: 'from', to: 'to', hash: 'hash', nonce: 'nonce', input: 'input' },
  ...{ gas_price: 'gasPrice', gas_limit: 'gas', gas_used: 'gasUsed', transaction_index: 'transactionIndex' },
  ...{ max_fee_per_gas: 'maxFeePerGas', max_priority_fee_per_gas: 'maxPriorityFeePerGas' },
}

const readTransactions = (transactions: readonly FilePart[], addresses: string[], all: FilePart): RuleBody[] => {
  const either: RuleCondition[] =
    addresses.length === 0
      ? []
      : [{ operator: 'Or', operatorParameters: [...anyAddress('from', addresses), ...anyAddress('to', addresses)] }]
  if (transactions.length === 0 && either.length === 0)
    return without(all, 'it matches every transaction: no rule is written.')
  if (transactions.length === 0)
    return [{ label: 'transactions', isWhole: true, targetType: 'Transaction', targetMap: either }]
  return transactions.flatMap((it, index): RuleBody[] => {
    it.only(['status', 'expression'])
    const status = it.member('status').value
    const { conditions, isWhole } = readConditionsOf(it.member('expression'), name => TRANSACTION_FIELDS[name])
    const targetMap: RuleCondition[] = [
      ...either,
      ...(status === 'Success' || status === 'Failure'
        ? [{ name: 'status', operator: 'Equals' as const, value: String(status === 'Success') }]
        : []),
      ...conditions,
    ]
    if (targetMap.length === 0) return without(it, 'it matches every transaction: no rule is written.')
    return [{ label: `transactions ${index + 1}`, isWhole, targetType: 'Transaction', targetMap }]
  })
}
