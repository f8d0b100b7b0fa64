import { isDeepStrictEqual } from 'node:util'
import { toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { refuse } from '../../../lib/errors.ts'
import type { RuleInput } from '../../../rules/rule.ts'
import { SERVERS } from '../../../rules/schema.ts'
import { type Context, command } from '../../command.ts'
import type { Cancelled, EditedRules, RuleBook, RuleEdits, ShownRule } from '../../rules-service.ts'
import { count, showText } from '../../show.ts'
import { ACCOUNT, BOOK, idsOf, openBook, showCancelled } from './chosen.ts'
import { type FileRule, rulesOf } from './files.ts'

export const applyRules = command({
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
    const steps = plan(await book.list(), rules, options.prune)
    const done = options.dryRun ? steps : await take(context, book, steps)
    if (!config.json) for (const step of done) if (step.to !== 'keep') print(showStep(step, options.dryRun))
    print(config.json ? JSON.stringify(toJson(done, options.dryRun)) : summary(done, options.dryRun))
    return 0
  },
})

export const createRules = command({
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
    const { created } = await change(context, book, { ...NONE, create: rules.map(({ rule }) => rule) })
    if (config.json) print(JSON.stringify(created))
    else for (const { id, name } of created) print(`created    ${id}  ${showText(name)}`)
    return 0
  },
})

/** The change to one rule. `keep`: no file has it, and it stays. */
type Step =
  | { to: 'create'; name: string; id?: number; rule: RuleInput }
  | { to: 'update'; name: string; id: number; rule: RuleInput; changes: Change[] }
  | { to: 'nothing' | 'delete' | 'keep'; name: string; id: number }
type Done = Step & Cancelled

interface Change {
  path: string
  /** Undefined where there was nothing, or will be. */
  from: unknown
  to: unknown
}

const plan = (known: readonly ShownRule[], wanted: readonly FileRule[], prune: boolean): Step[] => {
  const byName = Map.groupBy(known, ({ name }) => name)
  const steps = wanted.map(({ rule }): Step => {
    const same = byName.get(rule.name) ?? []
    const [before] = same
    if (same.length > 1)
      throw refuse(
        'many_rules',
        `${same.length} rules are called ${JSON.stringify(rule.name)} (${idsOf(same)}): delete or rename all but one.`,
      )
    if (!before) return { to: 'create', name: rule.name, rule }
    const { id, name } = before
    const changes = differences(asWritten(before, rule), { ...rule })
    return changes.length === 0 ? { to: 'nothing', id, name } : { to: 'update', id, name, rule, changes }
  })
  const names = new Set(wanted.map(({ rule }) => rule.name))
  const others = known.filter(({ name }) => !names.has(name))
  return [...steps, ...others.map(({ id, name }): Step => ({ to: prune ? 'delete' : 'keep', id, name }))]
}

/** A rule without what the server adds. State and start are left as they are where the file does not name them. */
const asWritten = (rule: ShownRule, wanted: RuleInput): Record<string, unknown> => {
  const own = Object.entries(rule).filter(([name]) => !SERVERS.includes(name))
  const left = own.filter(
    ([name]) => !((name === 'enabled' || name === 'startBlock') && (wanted[name] ?? undefined) === undefined),
  )
  return Object.fromEntries([
    ...left,
    // Null asks for what is the default.
    ...('startBlock' in wanted && wanted.startBlock === null ? [['startBlock', null] as const] : []),
  ])
}

const differences = (
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path = '',
): Change[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap(name => {
    const [before, after] = [from[name], to[name]]
    if (isDeepStrictEqual(before, after)) return []
    const at = path === '' ? name : `${path}.${name}`
    return isRecord(before) && isRecord(after)
      ? differences(before, after, at)
      : [{ path: at, from: before, to: after }]
  })

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NONE: RuleEdits = { create: [], replace: [], remove: [] }
/** So many changes are soon made. */
const FEW = 200

const change = async ({ progress }: Pick<Context, 'progress'>, book: RuleBook, changes: RuleEdits) => {
  const { create, replace, remove } = changes
  const total = create.length + replace.length + remove.length
  if (total <= FEW) return book.change(changes)
  const shown = progress('rules')
  try {
    return await book.change(changes, done => shown.update({ blocks: 0, logs: 0, events: 0, done, total }))
  } finally {
    shown.finish()
  }
}

const take = async (context: Pick<Context, 'progress'>, book: RuleBook, steps: readonly Step[]): Promise<Done[]> => {
  const changed: EditedRules = await change(context, book, {
    create: steps.flatMap(step => (step.to === 'create' ? [step.rule] : [])),
    replace: steps.flatMap(step => (step.to === 'update' ? [{ id: step.id, rule: step.rule }] : [])),
    remove: steps.flatMap(step => (step.to === 'delete' ? [step.id] : [])),
  })
  const created = changed.created.values()
  const cancelled = { update: changed.replaced.values(), delete: changed.removed.values() }
  return steps.map((step): Done => {
    if (step.to === 'create') return { ...step, id: created.next().value!.id }
    if (step.to !== 'update' && step.to !== 'delete') return step
    const { cancelledDeliveries } = cancelled[step.to].next().value!
    return cancelledDeliveries === undefined ? step : { ...step, cancelledDeliveries }
  })
}

const SAID = {
  create: 'created',
  update: 'updated',
  nothing: 'unchanged',
  delete: 'deleted',
  keep: 'not in the files',
} as const satisfies Record<Step['to'], string>

const showStep = (step: Done, dryRun: boolean): string =>
  [
    `${SAID[step.to].padEnd(9)}  ${step.id ?? '-'}  ${showText(step.name)}${showCancelled(step)}`,
    ...(step.to === 'update'
      ? step.changes.map(({ path, from, to }) =>
          dryRun ? `           ${path}: ${json(from)} → ${json(to)}` : `           ${path}`,
        )
      : []),
  ].join('\n')

const json = (value: unknown): string => (value === undefined ? 'nothing' : showText(JSON.stringify(value)))

const summary = (done: readonly Done[], dryRun: boolean): string => {
  const n = (to: Step['to']) => done.filter(step => step.to === to).length
  const counts = (['create', 'update', 'nothing', 'delete'] as const).map(to => `${n(to)} ${SAID[to]}`).join(', ')
  const kept = n('keep')
  return [
    `${counts}.`,
    ...(kept > 0 ? [`${count(kept, 'rule is', 'rules are')} not in the files: --prune deletes them.`] : []),
    ...(dryRun ? ['This was a dry run: nothing has changed.'] : []),
  ].join(' ')
}

const toJson = (done: readonly Done[], dryRun: boolean) => {
  const those = (to: Step['to']) =>
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
