import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { blockPoint, countKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { isRecord } from '../../../lib/arrays.ts'
import { ChainsieveError, messageOf, refuse } from '../../../lib/errors.ts'
import { collectAtMost, readAtMost } from '../../../lib/files.ts'
import { type Limits, overLimit } from '../../../limits/index.ts'
import { withoutKeys } from '../../../rules/hidden-keys.ts'
import { findIneffective } from '../../../rules/ineffective.ts'
import { faultInList } from '../../../rules/input.ts'
import type { RuleInput } from '../../../rules/rule.ts'
import { checkRule, type RuleFault, SERVER_PROPERTIES } from '../../../rules/schema.ts'
import type { RuleSimulation, SimulatedEpisode } from '../../../rules/search.ts'
import type { Cancelled, EditedRules, RuleBook, RuleEdits, ShownRule } from '../../rule-book.ts'
import type { CheckedRule, RulesService } from '../../rules.ts'
import { CALL_SETTINGS, type CommandContext, command, misused, type Streams } from '../command.ts'
import { formatCount as counted, formatRanges, formatTable, formatText, formatTime } from '../format.ts'
import { ACCOUNT, BOOK, formatCancelled, idsOf, openBook } from './rules.ts'

const fileLabel = (file: string): string => (file === '-' ? 'standard input' : file)

/** Reads a file, or standard input for `-`. Errors call it by `subject`. */
export const readInputFile = async (
  file: string,
  { stdin, limits, subject }: { stdin: Readable; limits: Limits; subject: string },
): Promise<Uint8Array> => {
  let bytes: Uint8Array | undefined
  try {
    bytes = file === '-' ? await collectAtMost(stdin, limits.inputFile) : readAtMost(file, limits.inputFile)
  } catch (error) {
    throw refuse('file_unreadable', `${subject} cannot be read: ${messageOf(error)}`, error)
  }
  if (!bytes) throw overLimit('inputFile', limits, subject)
  return bytes
}

/** Reads a file as JSON. Callers add the file name to errors. */
export const readJsonFile = async (file: string, stdin: Readable, limits: Limits): Promise<unknown> => {
  const bytes = await readInputFile(file, { stdin, limits, subject: 'It' })
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch (error) {
    throw refuse('file_no_json', `It is not JSON: ${messageOf(error)}`, error)
  }
}

/** `rules.json: config.targetMap[0].value: value must be …` */
export const formatFault = (file: string, { path, message }: RuleFault): string =>
  [fileLabel(file), path, message].filter(part => part !== '').join(': ')

interface FileRule {
  file: string
  rule: RuleInput
}

/** The rules in the files of a command; undefined after printing their faults to standard error. */
const rulesOf = async ({
  args,
  streams,
  config,
}: Pick<CommandContext, 'args' | 'streams' | 'config'>): Promise<FileRule[] | undefined> => {
  const { rules, faults } = await readRules(args, streams.stdin, config.limits)
  const say = (line: string) => streams.stderr.write(`${formatText(line, 2_000)}\n`)
  for (const fault of faults) say(fault)
  if (faults.length > 0) return undefined
  for (const { file, rule } of rules)
    for (const warning of findIneffective(rule))
      say(formatFault(file, { path: JSON.stringify(rule.name), message: `warning: ${warning}` }))
  return rules
}

/** Rules in files and folders, or all faults, one per line. Receivers are checked by the server. */
const readRules = async (
  paths: readonly string[],
  stdin: Readable,
  limits: Limits,
): Promise<{ rules: FileRule[]; faults: string[] }> => {
  const rules = new Map<string, FileRule>()
  const faults: string[] = []
  for (const file of [...new Set(paths.flatMap(filesOf))]) {
    let value: unknown
    try {
      value = await readJsonFile(file, stdin, limits)
    } catch (error) {
      if (!(error instanceof ChainsieveError)) throw error
      faults.push(formatFault(file, { path: '', message: error.message }))
      continue
    }
    const list = Array.isArray(value) ? value : [value]
    if (list.length === 0) faults.push(formatFault(file, { path: '', message: 'There is no rule in its list.' }))
    for (const [index, one] of list.entries()) {
      const checked = checkRule(one, { limits })
      const place = Array.isArray(value) ? index : null
      for (const fault of checked.faults) faults.push(formatFault(file, faultInList(place, fault)))
      if (!checked.rule) continue
      const other = rules.get(checked.rule.name)
      if (other) {
        const message = `${fileLabel(other.file)} has a rule of this name, too: names identify rules here.`
        faults.push(formatFault(file, faultInList(place, { path: 'name', message })))
      } else rules.set(checked.rule.name, { file, rule: checked.rule })
    }
  }
  return { rules: [...rules.values()], faults }
}

/** A folder means the JSON files in it and below, without tests of rules. */
const filesOf = (path: string): string[] => {
  if (path === '-') return [path]
  let isFolder: boolean
  try {
    isFolder = statSync(path).isDirectory()
  } catch (error) {
    throw refuse('file_unreadable', `${path} cannot be read: ${messageOf(error)}`, error)
  }
  if (!isFolder) return [path]
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.json') && !name.endsWith('.test.json'),
  )
  if (files.length === 0) throw refuse('no_rules', `There is no .json file in ${path}.`)
  return files.sort().map(name => join(path, name))
}

export const rulesCheckCommand = command({
  name: 'rules check',
  usage: 'FILE…',
  summary:
    'Checks alert rules in JSON files as the server does. A file has one rule or a list; - reads standard input.',
  settings: ['allowTarget', 'smtp', 'limit'],
  options: {},
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ services, config, shutdown, args, streams, print }) => {
    const rules = services.openRules(config, { shutdown })
    const files: CheckedFile[] = []
    for (const file of args) {
      const checked = await checkFile(rules, file, streams, config.limits)
      files.push(checked)
      if (!config.json) print(formatChecked(checked))
    }
    if (config.json) print(JSON.stringify(files.map(checkedJson)))
    return files.every(isGood) ? 0 : 1
  },
})

interface CheckedFile {
  file: string
  fault?: string
  /** The rule's place in the file's list; null if the file is not a list. */
  rules: { index: number | null; checked: CheckedRule }[]
}

const checkFile = async (
  rules: RulesService,
  file: string,
  { stdin }: Streams,
  limits: Limits,
): Promise<CheckedFile> => {
  let value: unknown
  try {
    value = await readJsonFile(file, stdin, limits)
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    return { file, fault: error.message, rules: [] }
  }
  if (!Array.isArray(value)) return { file, rules: [{ index: null, checked: rules.check(value) }] }
  if (value.length === 0) return { file, fault: 'There is no rule in its list.', rules: [] }
  return { file, rules: value.map((rule, index) => ({ index, checked: rules.check(rule) })) }
}

const isGood = ({ fault, rules }: CheckedFile): boolean =>
  fault === undefined && rules.every(({ checked }) => checked.rule !== undefined)

const formatChecked = (checked: CheckedFile): string => {
  const { file, fault, rules } = checked
  if (fault !== undefined) return formatFault(file, { path: '', message: fault })
  const lines = rules.flatMap(({ index, checked }) =>
    checked.rule
      ? remarks(file, index, checked)
      : checked.faults.map(fault => formatFault(file, faultInList(index, fault))),
  )
  if (isGood(checked)) lines.unshift(formatFault(file, { path: '', message: goodness(rules) }))
  return lines.map(line => formatText(line, 2_000)).join('\n')
}

const goodness = (rules: CheckedFile['rules']): string =>
  rules[0]?.index === null ? 'good' : `good, ${counted(rules.length, 'rule')}`

const remarks = (file: string, index: number | null, { warnings, idle }: CheckedRule & { rule: object }): string[] =>
  [...(idle === undefined ? [] : [`idle: ${idle}.`]), ...warnings.map(warning => `warning: ${warning}`)].map(message =>
    formatFault(file, faultInList(index, { path: '', message })),
  )

const checkedJson = (checked: CheckedFile) => ({
  file: checked.file,
  good: isGood(checked),
  faults:
    checked.fault !== undefined
      ? [{ path: '', message: checked.fault }]
      : checked.rules.flatMap(({ index, checked }) => checked.faults.map(fault => faultInList(index, fault))),
  warnings: checked.rules.flatMap(({ index, checked }) =>
    checked.rule ? checked.warnings.map(message => faultInList(index, { path: '', message })) : [],
  ),
  idle: checked.rules.flatMap(({ index, checked }) =>
    checked.rule && checked.idle !== undefined ? [faultInList(index, { path: '', message: checked.idle })] : [],
  ),
})

export const rulesApplyCommand = command({
  name: 'rules apply',
  usage: 'FILE|DIR… [--prune] [--dry-run] [--account NAME]',
  summary:
    'Makes the rules of an account those of JSON files, by their names: creates and updates them. A file has one rule or a list; - reads standard input. Nothing is changed if a file has a fault.',
  settings: [...BOOK, 'allowTarget', 'limit'],
  options: {
    ...ACCOUNT,
    prune: setting(toggle, 'false', 'Deletes rules of the account that are not in the files.'),
    dryRun: setting(toggle, 'false', 'Shows what would change, and changes nothing.'),
  },
  arity: [1, Number.POSITIVE_INFINITY],
  run: async context => {
    const { config, options, print } = context
    const rules = await rulesOf(context)
    if (!rules) return 1
    const book = openBook(context, options.account)
    const steps = planSteps(await book.list(), rules, options.prune)
    const done = options.dryRun ? steps : await applySteps(context, book, steps)
    if (!config.json) for (const step of done) if (step.to !== 'keep') print(formatStep(step, options.dryRun))
    print(config.json ? JSON.stringify(appliedJson(done, options.dryRun)) : summary(done, options.dryRun))
    return 0
  },
})

export const rulesCreateCommand = command({
  name: 'rules create',
  usage: 'FILE… [--account NAME]',
  summary: 'Creates the rules of JSON files. Fails if the account has a rule of the same name.',
  settings: [...BOOK, 'allowTarget', 'limit'],
  options: ACCOUNT,
  arity: [1, Number.POSITIVE_INFINITY],
  run: async context => {
    const { config, options, print } = context
    const rules = await rulesOf(context)
    if (!rules) return 1
    const book = openBook(context, options.account)
    const known = Map.groupBy(await book.list(), ({ name }) => name)
    for (const { rule } of rules) {
      const same = known.get(rule.name)
      if (same)
        throw refuse(
          'rule_exists',
          `There is a rule ${JSON.stringify(rule.name)} already (${idsOf(same)}): chainsieve rules apply updates it.`,
        )
    }
    const { created } = await change(context, book, { ...NO_EDITS, create: rules.map(({ rule }) => rule) })
    if (config.json) print(JSON.stringify(created))
    else for (const { id, name } of created) print(`created    ${id}  ${formatText(name)}`)
    return 0
  },
})

/** Change of one rule. `keep`: no file contains it, and it is not deleted. */
type ApplyStep =
  | { to: 'create'; name: string; id?: number; rule: RuleInput }
  | { to: 'update'; name: string; id: number; rule: RuleInput; changes: RuleChange[] }
  | { to: 'nothing' | 'delete' | 'keep'; name: string; id: number }
type AppliedStep = ApplyStep & Cancelled

interface RuleChange {
  path: string
  /** Undefined if absent before or after. */
  from: unknown
  to: unknown
}

const planSteps = (known: readonly ShownRule[], wanted: readonly FileRule[], prune: boolean): ApplyStep[] => {
  const byName = Map.groupBy(known, ({ name }) => name)
  const steps = wanted.map(({ rule }): ApplyStep => {
    const same = byName.get(rule.name) ?? []
    const [before] = same
    if (same.length > 1)
      throw refuse(
        'many_rules',
        `${same.length} rules are called ${JSON.stringify(rule.name)} (${idsOf(same)}): delete or rename all but one.`,
      )
    if (!before) return { to: 'create', name: rule.name, rule }
    const { id, name } = before
    const changes = differences(asWritten(before, rule), { ...withoutKeys(rule) })
    return changes.length === 0 ? { to: 'nothing', id, name } : { to: 'update', id, name, rule, changes }
  })
  const names = new Set(wanted.map(({ rule }) => rule.name))
  const others = known.filter(({ name }) => !names.has(name))
  return [...steps, ...others.map(({ id, name }): ApplyStep => ({ to: prune ? 'delete' : 'keep', id, name }))]
}

/** A rule without server properties; `enabled` and `startBlock` only if the file sets them. */
const asWritten = (rule: ShownRule, wanted: RuleInput): Record<string, unknown> => {
  const own = Object.entries(rule).filter(([name]) => !SERVER_PROPERTIES.includes(name))
  const left = own.filter(
    ([name]) => !((name === 'enabled' || name === 'startBlock') && (wanted[name] ?? undefined) === undefined),
  )
  return Object.fromEntries([
    ...left,
    // Null requests the default.
    ...('startBlock' in wanted && wanted.startBlock === null ? [['startBlock', null] as const] : []),
  ])
}

const differences = (
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path = '',
): RuleChange[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap(name => {
    const [before, after] = [from[name], to[name]]
    if (isDeepStrictEqual(before, after)) return []
    const at = path === '' ? name : `${path}.${name}`
    return isRecord(before) && isRecord(after)
      ? differences(before, after, at)
      : [{ path: at, from: before, to: after }]
  })

const NO_EDITS: RuleEdits = { create: [], replace: [], remove: [] }
/** Fewer changes need no progress bar. */
const MAX_QUIET_CHANGES = 200

const change = async ({ progress }: Pick<CommandContext, 'progress'>, book: RuleBook, changes: RuleEdits) => {
  const { create, replace, remove } = changes
  const total = create.length + replace.length + remove.length
  if (total <= MAX_QUIET_CHANGES) return book.change(changes)
  const shown = progress('rules')
  try {
    return await book.change(changes, done => shown.update({ blocks: 0, logs: 0, events: 0, done, total }))
  } finally {
    shown.finish()
  }
}

const applySteps = async (
  context: Pick<CommandContext, 'progress'>,
  book: RuleBook,
  steps: readonly ApplyStep[],
): Promise<AppliedStep[]> => {
  const changed: EditedRules = await change(context, book, {
    create: steps.flatMap(step => (step.to === 'create' ? [step.rule] : [])),
    replace: steps.flatMap(step => (step.to === 'update' ? [{ id: step.id, rule: step.rule }] : [])),
    remove: steps.flatMap(step => (step.to === 'delete' ? [step.id] : [])),
  })
  const created = changed.created.values()
  const cancelled = { update: changed.replaced.values(), delete: changed.removed.values() }
  return steps.map((step): AppliedStep => {
    if (step.to === 'create') return { ...step, id: created.next().value!.id }
    if (step.to !== 'update' && step.to !== 'delete') return step
    const { cancelledDeliveries } = cancelled[step.to].next().value!
    return cancelledDeliveries === undefined ? step : { ...step, cancelledDeliveries }
  })
}

const STEP_WORDS = {
  create: 'created',
  update: 'updated',
  nothing: 'unchanged',
  delete: 'deleted',
  keep: 'not in the files',
} as const satisfies Record<ApplyStep['to'], string>

const formatStep = (step: AppliedStep, dryRun: boolean): string =>
  [
    `${STEP_WORDS[step.to].padEnd(9)}  ${step.id ?? '-'}  ${formatText(step.name)}${formatCancelled(step)}`,
    ...(step.to === 'update'
      ? step.changes.map(({ path, from, to }) =>
          dryRun ? `           ${path}: ${formatValue(from)} → ${formatValue(to)}` : `           ${path}`,
        )
      : []),
  ].join('\n')

const formatValue = (value: unknown): string => (value === undefined ? 'nothing' : formatText(JSON.stringify(value)))

const summary = (done: readonly AppliedStep[], dryRun: boolean): string => {
  const n = (to: ApplyStep['to']) => done.filter(step => step.to === to).length
  const counts = (['create', 'update', 'nothing', 'delete'] as const).map(to => `${n(to)} ${STEP_WORDS[to]}`).join(', ')
  const kept = n('keep')
  return [
    `${counts}.`,
    ...(kept > 0 ? [`${counted(kept, 'rule is', 'rules are')} not in the files: --prune deletes them.`] : []),
    ...(dryRun ? ['This was a dry run: nothing has changed.'] : []),
  ].join(' ')
}

const appliedJson = (done: readonly AppliedStep[], dryRun: boolean) => {
  const those = (to: ApplyStep['to']) =>
    done.flatMap(step => {
      if (step.to !== to) return []
      const { id = null, name, cancelledDeliveries } = step
      const changes = step.to === 'update' ? { changes: step.changes } : {}
      return [{ id, name, ...changes, ...(cancelledDeliveries !== undefined && { cancelledDeliveries }) }]
    })
  return {
    dryRun,
    created: those('create'),
    updated: those('update'),
    unchanged: those('nothing'),
    deleted: those('delete'),
    others: those('keep'),
  }
}

export const rulesSimulateCommand = command({
  name: 'rules simulate',
  usage: 'FILE|ID [--from N|latest-K] [--to N|latest-K] [--size N]',
  summary:
    'Shows how often a rule would have fired in the stored blocks, its episodes and messages, and the newest hits. Sends nothing. A State rule needs --rpc, or a config file with the node.',
  settings: [...CALL_SETTINGS, 'queryDeadline', 'limit'],
  options: {
    from: setting(
      blockPoint,
      undefined,
      'First block to search. The default is the first stored block; of a State rule, as many as 100 readings need.',
    ),
    to: setting(blockPoint, undefined, 'Last block to search. The default is the last stored block.'),
    size: setting(countKind(0, 1_000), '10', 'Number of hits to show.'),
  },
  arity: [1, 1],
  run: async ({ services, config, shutdown, args: [which = ''], options: { from, to, size }, streams, print }) => {
    if (from && to && 'block' in from && 'block' in to && to.block < from.block)
      throw misused(`The last block, ${to.block}, is before the first, ${from.block}.`)
    const rules = services.openRules(config, { shutdown })
    const stored = /^\d{1,15}$/.test(which) ? rules.get(Number(which)) : undefined
    const rule = stored?.input ?? (await readRuleFile(which, streams, config.limits))
    if (rule === undefined) return 1
    const simulation = await rules.simulate(rule, { from, to, size }, stored?.account)
    print(config.json ? JSON.stringify(simulation) : formatSimulated(rule, simulation))
    return 0
  },
})

/** Rule of a file; undefined after printing its faults. Receivers are not checked. */
const readRuleFile = async (
  file: string,
  { stdin, stderr }: Streams,
  limits: Limits,
): Promise<RuleInput | undefined> => {
  let value: unknown
  try {
    value = await readJsonFile(file, stdin, limits)
  } catch (error) {
    throw error instanceof ChainsieveError
      ? refuse(error.code, `${fileLabel(file)}: ${error.message}`, error.cause)
      : error
  }
  if (Array.isArray(value))
    throw refuse(
      'many_rules',
      `${fileLabel(file)} holds a list: put the one rule that is meant into a file of its own.`,
    )
  const { rule, faults } = checkRule(value, { limits })
  for (const fault of faults) stderr.write(`${formatText(formatFault(file, fault), 2_000)}\n`)
  return rule
}

const formatSimulated = (
  rule: RuleInput,
  { total, fromBlock, toBlock, holes, hits, alerts, messages = [], windows, warnings = [] }: RuleSimulation,
): string => {
  const { name, technology, blockchain, network, config } = rule
  const happened = config.when ? `matches ${counted(total, 'document')}` : `would have fired ${counted(total, 'time')}`
  const blocks = fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock}-${toBlock}`
  const stored = holes.length === 0 ? blocks : `what is stored of ${blocks}`
  return [
    `${formatText(name)} ${happened} in ${stored} of ${technology}/${blockchain}/${network}.`,
    ...(holes.length === 0 ? [] : [`Not stored, and not looked at: ${formatRanges(holes)}`]),
    ...(typeof alerts === 'number' && (windows || messages.some(it => it.messages !== total))
      ? [formatAlerts(alerts, messages, windows)]
      : []),
    ...(windows && windows.undecided.length > 0
      ? [`Undecided, since a window reaches into blocks that are not stored: ${formatRanges(windows.undecided)}`]
      : []),
    ...warnings.map(warning => `Warning: ${formatText(warning, 2_000)}`),
    ...(windows && windows.episodes.length > 0
      ? [
          formatTable(
            ['OPENED', 'ENDED', 'MATCHES', 'KEY', 'PEAK'],
            windows.episodes.slice(0, MAX_PRINTED).map(formatEpisode),
          ),
        ]
      : []),
    ...(hits.length === 0 ? [] : [formatTable(['BLOCK', 'ID', 'WHAT'], (hits as SimulatedHit[]).map(formatHit))]),
  ].join('\n')
}

const formatAlerts = (
  alerts: number,
  messages: NonNullable<RuleSimulation['messages']>,
  windows: RuleSimulation['windows'],
): string => {
  const still = windows && windows.open > 0 ? `, ${windows.open} of them still open` : ''
  const sent = messages.map(({ type, messages }) => `${counted(messages ?? 0, 'message')} by ${type}`)
  return `That is ${counted(alerts, 'alert')}${still}${sent.length === 0 ? '' : `: ${sent.join(', ')}`}.`
}

/** Episodes that are printed; all are in the answer for programs. */
const MAX_PRINTED = 20

const formatEpisode = ({ network, key, opened, ended, matches, peak }: SimulatedEpisode): string[] => [
  `${network === undefined ? '' : `${network} `}${opened.block}`,
  ended === undefined ? '' : ended === null ? 'open' : String(ended.block),
  String(matches),
  formatText(
    Object.entries(key)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  ),
  formatText(
    peak
      .map(({ aggregate, name, value }) => [aggregate, name, value].filter(it => it !== undefined).join(' '))
      .join(', '),
  ),
]

interface SimulatedHit {
  _id: string
  _type: string
  _source: Record<string, unknown>
}

const formatHit = ({ _id, _type, _source }: SimulatedHit): string[] => {
  const block = (_source.blockNumber ?? _source.number) as { num: unknown }
  return [plainJson(block.num), _id, formatText((SUMMARIES[_type] ?? JSON.stringify)(_source))]
}

const plainJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const SUMMARIES: Record<string, (source: Record<string, unknown>) => string> = {
  event: ({ str, event, address }) => plainJson(str ?? `${plainJson(event)} of ${plainJson(address)}`),
  log: ({ address, topics }) => `${plainJson(address)} ${(topics as string[])[0] ?? 'without topics'}`,
  tx: ({ from, to, contractAddress, method, input, value }) => {
    const call = method ?? (input === '0x' ? 'transfer' : plainJson(input).slice(0, 10))
    const receiver = to === null ? `creates ${plainJson(contractAddress)}` : `to ${plainJson(to)}`
    return `${to === null ? '' : `${plainJson(call)} `}from ${plainJson(from)} ${receiver}, value ${plainJson((value as { coin: unknown }).coin)}`
  },
  state: ({ call, address, value, result, error }) => {
    const results = (result ?? []) as { name: string; pos: number; value: Record<string, unknown> }[]
    const answers = results.map(
      ({ name, pos, value }) => `${name || pos} ${plainJson(value.scaled ?? value.num ?? value.hex)}`,
    )
    const answer = error ?? (value as { coin: unknown } | undefined)?.coin ?? answers.join(', ')
    return `${plainJson(call)} of ${plainJson(address)}: ${plainJson(answer)}`
  },
  block: ({ transactions, timestamp }) =>
    `${counted((transactions as unknown[]).length, 'transaction')} at ${formatTime((timestamp as number) * 1000)}`,
}
