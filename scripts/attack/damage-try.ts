import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ACCOUNTS_FILE } from '../../src/accounts/file.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { backupContents } from '../../src/app/backup.ts'
import { takeDataFolder } from '../../src/app/upgrade.ts'
import { checkBackup, restoreBackup } from '../../src/backup/restore.ts'
import { takeBackup } from '../../src/backup/take.ts'
import { DELIVERIES_FILE } from '../../src/delivery/ledger/file.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { storedNetworks, storeFile } from '../../src/engine/files.ts'
import { prepareStore } from '../../src/ingest/network.ts'
import { messageOf, systemFault } from '../../src/lib/errors.ts'
import { silent } from '../../src/lib/log.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { compactStore } from '../../src/sqlite/compact.ts'
import { asDamage, damagedStore } from '../../src/sqlite/damage.ts'
import { checkPages, sealPages } from '../../src/sqlite/verify-pages.ts'
import { ruleBody } from '../../test/support/rules.ts'
import { createTestStore, demoBlocks, VERSION_WITHOUT_SHELF, WITHOUT_SHELF } from '../../test/support/store.ts'
import { createRandom, type Random } from '../lib/random.ts'
import { pick } from './attack.ts'
import { askEverything, askReader, DAMAGES, lastOf } from './bits.ts'

export interface Judged {
  phase: string
  injury: string
  /** `told`: there was an error. `harmless`: everything was as before. */
  outcome: string
  broken: string[]
  how: string
}

/** What may be answered: one of several states of each network, and that of accounts, rules and deliveries. */
interface Honest {
  token: string
  networks: Record<string, string[]>
  small: string
}

export const [ONE, OTHER] = ['ethereum/test/one', 'ethereum/test/other']
const NETWORKS = [ONE, OTHER]
const PAGE = 4096
const RUN = 10
/** Blocks in the file, and in the log of a program that was killed. */
const [FILED, LOGGED] = [20, 20]

/** Folders in the states that are damaged: `closed`, `killed`, `older`, and `backup`, which is one of `closed`. */
export const makeTemplates = async (folder: string) => {
  const blocks = demoBlocks()
  const at = (name: string) => join(folder, name)
  mkdirSync(join(at('closed'), 'networks'), { recursive: true })
  const honest: Honest = { token: '', networks: {}, small: '' }
  const note = (network: string, path: string) => {
    honest.networks[network] = [...new Set([...(honest.networks[network] ?? []), digestOf(askEverything(path))])]
  }
  const open = (template: string, network: string, first = 0) => {
    const path = storeFile(at(template), network)
    const store = createTestStore([], { path, run: RUN })
    return {
      ...store,
      path,
      grow(count: number) {
        for (let next = first; next < first + count; next += RUN) {
          store.add(blocks.slice(next, next + RUN))
          note(network, path)
        }
      },
    }
  }
  for (const network of NETWORKS) {
    const store = open('closed', network, offsetOf(network))
    store.grow(FILED)
    store.close()
  }
  const accounts = openAccounts(at('closed'))
  honest.token = accounts.createToken('alice')
  accounts.close()
  const rules = openRules(at('closed'))
  for (let n = 0; n < 30; n++) rules.create(1, ruleBody({ name: `Rule ${n}` }) as unknown as RuleInput, 1)
  rules.close()
  openDeliveries(at('closed')).close()
  writeDeliveries(join(at('closed'), DELIVERIES_FILE))
  takeDataFolder(at('closed'), 'serve', silent).release()
  honest.small = askSmall(at('closed'), honest.token)

  cpSync(at('closed'), at('killed'), { recursive: true })
  const growing = NETWORKS.map(network => {
    const store = open('killed', network, offsetOf(network) + FILED)
    store.grow(LOGGED)
    return store
  })
  cpSync(at('killed'), at('killed-copy'), { recursive: true })
  for (const store of growing) store.close()
  rmSync(at('killed'), { recursive: true })
  renameSync(at('killed-copy'), at('killed'))

  cpSync(at('closed'), at('older'), { recursive: true })
  for (const network of NETWORKS) {
    const path = storeFile(at('older'), network)
    const db = new Database(path)
    db.exec(WITHOUT_SHELF)
    db.pragma(`user_version = ${VERSION_WITHOUT_SHELF}`)
    db.close()
    sealPages(path).close()
  }
  lastOf(takeBackup(backupOf(at('closed'), at('backup'))))
  writeFileSync(at('honest.json'), JSON.stringify(honest))
}

const offsetOf = (network: string) => (network === ONE ? 0 : 60)

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

const writeDeliveries = (path: string) => {
  const db = new Database(path)
  const head = JSON.stringify({
    targetType: 'Event',
    confirmations: 0,
    entity: { _id: '0x1', _type: 'event', blockNumber: 5 },
  })
  db.exec(`INSERT INTO said VALUES (1, 1, 1, '{"id":1,"name":"Rule 0","version":1}');
    INSERT INTO receiver VALUES (1, '{"type":"Webhook (POST)","parameters":{"url":"https://a.example/"}}', 'Webhook (POST)', 'https://a.example', 't', 'a.example')`)
  for (let n = 1; n <= 30; n++) {
    db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run(n, ONE, `alert-${n}`, head, '{}')
    db.prepare(
      `INSERT INTO delivery (network, alert, round, type, action, rule, revision, account, receiver, destination, message, state,
         next_at, created_at, queued_at, received_at, changed_at)
       VALUES (?, ?, 1, 'alert.confirmed', 0, 1, 1, 1, 1, 'https://a.example', ?, 'queued', 5, 5, 5, 5, 5)`,
    ).run(ONE, `alert-${n}`, n)
  }
  db.close()
}

const askSmall = (data: string, token: string): string => {
  const accounts = openAccounts(data)
  const rules = openRules(data)
  const deliveries = openDeliveries(data)
  try {
    const tokens = accounts.list().map(({ account, hint, scopes }) => [account, hint, scopes])
    return JSON.stringify([accounts.verify(token)?.name, tokens, rules.all(), deliveries.list({ limit: 100 })])
  } finally {
    for (const { close } of [accounts, rules, deliveries]) close()
  }
}

const backupOf = (data: string, folder: string) => ({ ...backupContents(data), folder, program: 'test', full: false })

/** Files of a folder by their paths in it, those that may be damaged. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.endsWith('-shm'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()

const networksIn = (files: readonly string[]): Set<string> =>
  new Set(NETWORKS.filter(network => files.some(file => basename(file).startsWith(network.replaceAll('/', '~')))))

const isSmall = (file: string): boolean => /^(accounts|deliveries)\.sqlite/.test(basename(file))

/** Damages a file in place; tells how, and which files are no longer what they were. */
const injure = (folder: string, random: Random): { injury: string; files: string[] } => {
  const files = filesOf(folder)
  // Networks' files, those of accounts and deliveries, and what else there is.
  const groups = [files.filter(file => networksIn([file]).size > 0), files.filter(isSmall), files].filter(
    it => it.length > 0,
  )
  const file = pick(random, [...groups, groups[0]!][random.below(groups.length + 1)]!)
  const others = files.filter(it => it !== file)
  const path = join(folder, file)
  const content = readFileSync(path)
  const told = (how: string, ...others: string[]) => ({ injury: `${how} ${file}`, files: [file, ...others] })
  switch (random.below(9)) {
    case 0:
      rmSync(path)
      return told('removed')
    case 1:
      truncateSync(path)
      return told('emptied')
    case 2: {
      const size = Math.floor(content.length * random.unit())
      truncateSync(path, size)
      return told(`cut to ${size} bytes:`)
    }
    case 3: {
      const size = Math.max(0, content.length - PAGE * (1 + random.below(3)))
      truncateSync(path, size)
      return told(`cut to ${size} bytes:`)
    }
    case 4: {
      const other = pick(random, others)
      writeFileSync(path, readFileSync(join(folder, other)))
      writeFileSync(join(folder, other), content)
      return told(`exchanged with ${other}:`, other)
    }
    case 5: {
      const other = pick(random, others)
      cpSync(join(folder, other), path)
      return told(`${other} in place of`)
    }
    case 6:
      rmSync(path)
      mkdirSync(path)
      return told('a folder in place of')
    case 7:
      appendFileSync(path, Buffer.alloc(1 + random.below(3 * PAGE), random.below(256)))
      return told('something behind')
    default: {
      if (content.length === 0) return told('nothing done to')
      const at = random.below(content.length)
      const kind = pick(random, DAMAGES)
      kind.inflict(content, at, random)
      // SQLite checks the structure of these files alone.
      if (isSmall(file) && !/page/.test(kind.name)) unchecked.add(file)
      writeFileSync(path, content, { flag: 'r+' })
      return told(`${kind.name} at ${at} of`)
    }
  }
}

type Broken = (what: string, how: string) => void

/** Starts as a server does, and asks everything: what is whole must be served, and what is served must be right. */
const judgeFolder = (data: string, files: readonly string[], honest: Honest, broken: Broken): boolean => {
  const hurt = networksIn(files)
  const isSmallHurt = files.some(file => networksIn([file]).size === 0)
  let isTold = false
  const attempt = <T>(what: string, mayFail: boolean, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      isTold = true
      if (!systemFault(error)) broken('an error that does not say what to do', `${what}: ${stackOf(error)}`)
      else if (!mayFail) broken('damage of one file keeps others from being served', `${what}: ${messageOf(error)}`)
      return undefined
    }
  }
  const lock = attempt('start', isSmallHurt, () => takeDataFolder(data, 'serve', silent))
  if (!lock) return isTold
  const stored = new Set(storedNetworks(data))
  for (const network of NETWORKS) {
    if (!stored.has(network)) {
      if (!hurt.has(network)) broken('a network is gone', network)
      isTold = true
      continue
    }
    const answer = attempt(network, hurt.has(network), () => {
      const { store } = prepareStore(data, network, silent)
      const found = lastOf(checkPages(store))
      if (found && found.damaged.length > 0) throw damagedStore(store, found.damaged)
      try {
        return digestOf(askEverything(store))
      } catch (error) {
        throw asDamage(error, store)
      }
    })
    if (answer !== undefined && !honest.networks[network]!.includes(answer)) broken('a wrong answer', network)
  }
  const small = attempt('accounts', isSmallHurt, () => askSmall(data, honest.token))
  if (small !== undefined && small !== honest.small && unchecked.size === 0 && !isAbsent(files, data))
    broken('wrong accounts, rules or deliveries', small)
  lock.release()
  return isTold
}

/** One that was removed is a new one, as the remedy of damage says. */
const isAbsent = (files: readonly string[], data: string) =>
  files.some(file => isSmall(file)) && [ACCOUNTS_FILE, DELIVERIES_FILE].some(file => removed.has(join(data, file)))

const removed = new Set<string>()
const unchecked = new Set<string>()

const stackOf = (error: unknown) => (error instanceof Error ? error.stack! : String(error))

/** Whether work fails because of the damage; then the error has to say what to do. */
const fails = (broken: Broken, work: () => unknown): boolean => {
  try {
    work()
    return false
  } catch (error) {
    if (!systemFault(error)) broken('an error that does not say what to do', stackOf(error))
    return true
  }
}

/** Whether a backup can be restored, and holds what it should. */
const judgeBackup = (backup: string, data: string, honest: Honest, broken: Broken): boolean => {
  rmSync(data, { recursive: true, force: true })
  const restore = () => {
    lastOf(checkBackup(backup))
    lastOf(restoreBackup({ backup, data, force: false }))
  }
  if (fails(broken, restore)) return false
  judgeFolder(data, [], honest, (what, how) => broken(`${what}, from a backup`, how))
  return true
}

type Phase = (folder: string, random: Random, honest: Honest, broken: Broken) => { injury: string; isTold: boolean }

const whenStopped =
  (template: string): Phase =>
  (folder, random, honest, broken) => {
    const data = join(folder, template)
    const { injury, files } = injureNoting(data, random)
    const isTold = judgeFolder(data, files, honest, broken)
    return { injury, isTold }
  }

const injureNoting = (data: string, random: Random) => {
  const done = injure(data, random)
  for (const name of [ACCOUNTS_FILE, DELIVERIES_FILE]) if (!existsSync(join(data, name))) removed.add(join(data, name))
  return done
}

const PHASES: Record<string, { template: string; run: Phase }> = {
  stopped: { template: 'closed', run: whenStopped('closed') },
  killed: { template: 'killed', run: whenStopped('killed') },
  upgrade: { template: 'older', run: whenStopped('older') },

  /** Network ONE is read and written when it happens. */
  running: {
    template: 'closed',
    run(folder, random, honest, broken) {
      const data = join(folder, 'closed')
      const path = storeFile(data, ONE)
      const store = createTestStore([], { path, run: RUN })
      const next = offsetOf(ONE) + FILED
      askReader(store.reader)
      const { injury, files } = injureNoting(data, random)
      const look = () => {
        if (!honest.networks[ONE]!.includes(digestOf(askReader(store.reader))))
          broken('a wrong answer while it runs', ONE)
      }
      const steps = [look, () => store.add(demoBlocks().slice(next, next + RUN)), () => store.db.settle(1), look]
      const failed = [...steps, () => store.close()].filter(step => fails(broken, step))
      store.db.close()
      const isToldLater = judgeFolder(data, files, honest, broken)
      return { injury, isTold: failed.length > 0 || isToldLater }
    },
  },

  /** Of the data folder, while a backup is taken over another one. */
  'during backup': {
    template: 'killed',
    run(folder, random, honest, broken) {
      const [data, backup] = [join(folder, 'killed'), join(folder, 'backup')]
      let hurt: ReturnType<typeof injure> | undefined
      let left = random.below(12)
      const isTold = fails(broken, () => {
        for (const steps = takeBackup(backupOf(data, backup)); ; left--) {
          if (left === 0) hurt = injureNoting(data, random)
          if (steps.next().done) break
        }
      })
      hurt ??= injureNoting(data, random)
      if (!judgeBackup(backup, join(folder, 'restored'), honest, broken)) broken('a good backup is lost', hurt.injury)
      judgeFolder(data, hurt.files, honest, broken)
      return { injury: hurt.injury, isTold }
    },
  },

  /** Of the data folder before a backup is taken over another one. */
  'before backup': {
    template: 'closed',
    run(folder, random, honest, broken) {
      const [data, backup] = [join(folder, 'closed'), join(folder, 'backup')]
      const { injury } = injureNoting(data, random)
      const isTold = fails(broken, () => lastOf(takeBackup(backupOf(data, backup))))
      if (!judgeBackup(backup, join(folder, 'restored'), honest, broken)) broken('a good backup is lost', injury)
      return { injury, isTold }
    },
  },

  /** Of the backup. The next backup over it is good, or refused. */
  'of a backup': {
    template: 'closed',
    run(folder, random, honest, broken) {
      const [data, backup, restored] = [join(folder, 'closed'), join(folder, 'backup'), join(folder, 'restored')]
      const { injury } = injure(backup, random)
      const isTold = !judgeBackup(backup, restored, honest, broken)
      if (fails(broken, () => lastOf(takeBackup(backupOf(data, backup))))) return { injury, isTold }
      if (!judgeBackup(backup, restored, honest, broken)) broken('a new backup is not good', injury)
      return { injury, isTold }
    },
  },

  /** Of the data folder before its stores are compacted. */
  compact: {
    template: 'closed',
    run(folder, random, honest, broken) {
      const data = join(folder, 'closed')
      const { injury, files } = injureNoting(data, random)
      const compact = (network: string) => {
        prepareStore(data, network, silent)
        compactStore(storeFile(data, network))
      }
      const failed = storedNetworks(data).filter(network => fails(broken, () => compact(network)))
      const isToldLater = judgeFolder(data, files, honest, broken)
      return { injury, isTold: failed.length > 0 || isToldLater }
    },
  },
}

const tryOnce = (templates: string, folder: string, random: Random): Judged => {
  const honest = JSON.parse(readFileSync(join(templates, 'honest.json'), 'utf8')) as Honest
  const phase = pick(random, Object.keys(PHASES))
  const { template, run } = PHASES[phase]!
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(templates, template), join(folder, template), { recursive: true })
  if (/backup/.test(phase)) cpSync(join(templates, 'backup'), join(folder, 'backup'), { recursive: true })
  for (const kept of [removed, unchecked]) kept.clear()
  const broken = new Set<string>()
  const hows: string[] = []
  const { injury, isTold } = run(folder, random, honest, (what, how) => {
    broken.add(what)
    hows.push(how.replaceAll(dirname(folder), ''))
  })
  return { phase, injury, outcome: isTold ? 'told' : 'harmless', broken: [...broken], how: hows.join('; ') }
}

if (process.send && import.meta.main) {
  const [templates, folder, seed] = process.argv.slice(2) as [string, string, string]
  const random = createRandom()
  process.on('message', (attempt: number) => {
    random.seek(Number(seed), 0, attempt, 0)
    process.send!(tryOnce(templates, folder, random))
  })
}
