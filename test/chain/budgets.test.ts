import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createRandom } from '../../scripts/lib/random.ts'
import { createBudget, createCosts } from '../../src/chain/budget/budget.ts'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { createWindow } from '../../src/lib/scheduling/concurrency-window.ts'
import { createLearntPace, createRequestPace, LEARNT_PARTS } from '../../src/lib/scheduling/rate-limiter.ts'
import { PROVIDERS } from '../../src/limits/credits.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-budgets-'))
after(() => rmSync(folder, { recursive: true }))
const never = new AbortController().signal
const URL_OF = 'https://one.example/v3/SECRETKEY'
const NAME = 'https://one.example/[secret]'
const KEY = createHash('sha256').update(URL_OF).digest('hex').slice(0, 16)
const NOON = Date.UTC(2026, 10, 22, 12)

let files = 0
const fileOf = () => join(folder, 'spent', `ethereum~test~${++files}`)
const [MONTH, DECEMBER] = ['.2026-11.ndjson', '.2026-12.ndjson']

test('the limit of a node that names none is learnt from its refusals, and what is urgent goes first', async () => {
  for (const most of [5, 30, 200]) {
    const clock = createVirtualClock(NOON)
    const pace = createLearntPace(clock.elapsed)
    const window = createWindow({ start: 8, max: 8, pace, clock })
    let taken: number[] = []
    let restsUntil = 0
    let refusals = 0
    /** Whether the node took it. */
    const ask = async (cost: number, urgent: boolean) => {
      if (restsUntil > clock.now()) await clock.sleep(restsUntil - clock.now())
      const leave = await window.enter(never, urgent, cost).catch(() => undefined)
      if (!leave) return false
      const { cuts } = pace
      taken = taken.filter(at => at > clock.now() - 1_000)
      const isTaken = taken.length + cost <= most
      if (isTaken) taken.push(...Array(cost).fill(clock.now()))
      await clock.sleep(20)
      leave('neutral')
      if (isTaken) return true
      refusals++
      pace.refused(cost, cuts)
      restsUntil = clock.now() + 1_100
      window.turnAway(new Error('slow down'))
      return false
    }
    let left = most * 120
    const others = async () => {
      while (left > 0) {
        const cost = Math.max(1, Math.floor(Math.min(20, pace.most / LEARNT_PARTS)))
        if (await ask(cost, false)) left -= cost
      }
    }
    let worst = 0
    const head = async () => {
      while (left > 0) {
        const began = clock.now()
        while (!(await ask(1, true)));
        worst = Math.max(worst, clock.now() - began)
        await clock.sleep(2_000)
      }
    }
    const done = Promise.all([...Array.from({ length: 8 }, others), head()]).then(() => clock.now() - NOON)
    await clock.run(600_000)
    window.close()
    const ms = await done
    assert.ok(ms < 1.5 * 120_000, `${most} a second: ${ms} ms for 120 s`)
    assert.ok(refusals < 30, `${most} a second: ${refusals} refusals`)
    assert.ok(worst < 3_000, `${most} a second: the head waited for ${worst} ms`)
  }
})

test('no second has more than it may, whatever is asked, and none is wasted while something waits', async () => {
  const random = createRandom()
  for (let seed = 0; seed < 25; seed++) {
    random.seek(seed, 0, 0, 0)
    const below = (most: number) => Math.floor(random.unit() * most)
    const clock = createVirtualClock(NOON)
    const most = 1 + below(60)
    const window = createWindow({ start: 8, max: 8, pace: createRequestPace(most, clock.elapsed), clock })
    const sent: { at: number; cost: number }[] = []
    let left = 150
    const ask = async () => {
      while (left-- > 0) {
        const cost = 1 + below(Math.max(1, Math.ceil(most / 4)))
        const leave = await window.enter(never, random.unit() < 0.1, cost)
        sent.push({ at: clock.now(), cost })
        await clock.sleep(below(30))
        leave('ok')
        if (random.unit() < 0.05) await clock.sleep(below(3_000))
      }
    }
    const asking = Promise.all(Array.from({ length: 8 }, ask))
    await clock.run(600_000)
    await asking
    window.close()
    assert.ok(sent.length >= 150)
    for (const [i, { at }] of sent.entries()) {
      let sum = 0
      for (let j = i; j < sent.length && sent[j]!.at < at + 1_000; j++) sum += sent[j]!.cost
      assert.ok(sum <= most, `seed ${seed}: ${sum} of ${most} in a second`)
    }
    // A quarter may be left where the next one has that much; a second counts for somewhat longer.
    const busy = sent.at(-1)!.at - sent[0]!.at
    const total = sent.reduce((sum, { cost }) => sum + cost, 0)
    assert.ok(
      busy <= ((total / most) * 1.05 * 4 * 1_000) / 3 + 150 * 8 + 3_500,
      `seed ${seed}: took ${busy} ms for ${total} of ${most}/s`,
    )
  }
})

test('urgent requests go before others that wait for the second, and what is given up holds up none', async () => {
  const clock = createVirtualClock(NOON)
  const window = createWindow({ start: 4, max: 4, pace: createRequestPace(2, clock.elapsed), clock })
  const order: string[] = []
  const enter = async (name: string, urgent = false, signal = never) => {
    const leave = await window.enter(signal, urgent, 1)
    order.push(`${name} ${clock.now() - NOON}`)
    leave('ok')
  }
  const controller = new AbortController()
  const gone = assert.rejects(
    enter('gone', false, controller.signal).then(() => enter('gone', false, controller.signal)),
  )
  const all = [enter('a'), enter('b'), enter('c'), enter('head', true)]
  controller.abort(new Error('enough'))
  await clock.run(5_000)
  await Promise.all([...all, gone])
  assert.deepEqual(order, ['gone 0', 'a 0', 'head 1050', 'b 1050', 'c 2100'])
  window.close()
})

test('what costs more than a second has goes alone', () => {
  let now = NOON
  const pace = createRequestPace(500, () => now)
  assert.equal(pace.waitMs(1_000), 0)
  pace.take(1_000)
  assert.equal(pace.waitMs(1), 2_100)
  now += 2_100
  assert.equal(pace.waitMs(500), 0)
})

test('calls cost what the provider of the host says, what is set, or one each', () => {
  const all = ['eth_getBlockByNumber', 'eth_getBlockReceipts', 'eth_getLogs', 'trace_block', 'eth_chainId']
  const of = (entries: string[], host: string, chainId?: number) => {
    const { name, credits, perSecond } = createCosts(entries, host)
    return [name, ...all.map(it => credits([it], chainId)), perSecond(all, chainId)]
  }
  assert.deepEqual(of([], '10.0.0.7'), ['calls', 1, 1, 1, 1, 1, 5])
  assert.deepEqual(of([], 'eth-mainnet.g.alchemy.com'), ['alchemy', 20, 20, 60, 20, 0, 600])
  assert.deepEqual(of([], 'mainnet.infura.io'), ['infura', 80, 1_000, 255, 300, 5, 1_640])
  assert.deepEqual(of([], 'x.celo-mainnet.quiknode.pro', 42_220), ['quicknode', 40, 40, 40, 80, 40, 240])
  assert.deepEqual(of(['infura'], 'own.example'), of([], 'mainnet.infura.io'))
  assert.deepEqual(of(['calls'], 'mainnet.infura.io'), ['calls', 1, 1, 1, 1, 1, 5])
  assert.deepEqual(of(['infura', 'eth_getLogs=75', '*=9'], 'x'), ['infura, changed', 9, 1_000, 75, 300, 5, 1_389])
  assert.equal(createCosts(['calls'], '').credits(['constructor', '__proto__'], 1), 2)
  for (const [name, { source, hosts }] of PROVIDERS) {
    assert.match(source, /^https:\/\//)
    assert.ok(!hosts.test(`${name}.evil.example`) && !hosts.test(`not${name}.com.example`), name)
  }
})

const budgetAt = (now: () => number, path: string, { daily = 1_000, month = undefined as number | undefined } = {}) =>
  createBudget({ daily, month }, { url: URL_OF, clock: { now, elapsed: now }, spent: openSpent(path, silent, now) })!

const calls = (count: number) => Array.from({ length: count }, () => ({ method: 'eth_call', params: [] }))

test('a back-fill leaves a tenth of the day to the head, and midnight in UTC gives both a new one', () => {
  let now = NOON
  const budget = budgetAt(() => now, fileOf())
  const spend = (urgent: boolean) => {
    let spent = 0
    for (; budget.affords(budget.costOf(calls(7), 1).credits, urgent); spent += 7) budget.charge(7)
    return spent
  }
  assert.equal(spend(false), 896)
  const midnight = Date.UTC(2026, 10, 23)
  assert.deepEqual([budget.closedUntil(false), budget.closedUntil(true)], [midnight, 0])
  assert.equal(spend(true), 98)
  assert.deepEqual([budget.closedUntil(false), budget.closedUntil(true)], [midnight, midnight])
  assert.deepEqual(budget.status(), {
    ...{ costs: 'calls', spent: 994 },
    day: { limit: 1_000, used: 994, left: 6, endsAt: '2026-11-23T00:00:00.000Z' },
  })
  now = midnight - 1
  assert.equal(budget.affords(7, true), false)
  now = midnight
  assert.deepEqual([budget.closedUntil(false), budget.closedUntil(true)], [0, 0])
  assert.equal(budget.status().day!.left, 1_000)
  assert.equal(spend(false), 896)
  // What is refused by the rate costs nothing.
  budget.charge(-7)
  assert.equal(budget.status().day!.used, 889)
})

test('what was refused by a clock that was ahead is no longer refused when it is set back', () => {
  let now = NOON + 86_400_000
  const budget = createBudget({ daily: 100 }, { url: URL_OF, clock: { now: () => now, elapsed: () => 0 } })!
  assert.ok(!budget.affords(101, true))
  assert.ok(budget.closedUntil(true) > now)
  now = NOON
  assert.equal(budget.closedUntil(true), 0)
})

test('the month goes on over the days, and ends with its last one', () => {
  let now = Date.UTC(2026, 10, 29, 23)
  const budget = budgetAt(() => now, fileOf(), { daily: 1_000, month: 1_500 })
  assert.equal(budget.affords(900, false), true)
  budget.charge(900)
  now = Date.UTC(2026, 10, 30, 1)
  assert.equal(budget.affords(451, false), false)
  assert.equal(budget.closedUntil(false), Date.UTC(2026, 11, 1))
  assert.equal(budget.affords(451, true), true)
  assert.deepEqual([budget.status().day!.used, budget.status().month!.used], [0, 900])
  assert.ok(budget.strain() < 1)
  now = Date.UTC(2026, 11, 1)
  assert.deepEqual([budget.status().day!.used, budget.status().month!.used, budget.closedUntil(false)], [0, 0, 0])
  budget.charge(500)
  assert.ok(budget.strain() > 5, 'half of the day was spent in its first moment')
})

test('a restart forgets nothing, a kill counts too much rather than too little, and few requests write', () => {
  let now = NOON
  const path = fileOf()
  const before = budgetAt(() => now, path, { daily: 10_000 })
  let writes = 0
  let content = ''
  for (let i = 0; i < 5_000; i++) {
    before.charge(1)
    const text = readFileSync(path + MONTH, 'utf8')
    if (text !== content) writes++
    content = text
    // Killed here.
    if (i % 500 !== 0) continue
    const { used } = budgetAt(() => now, path, { daily: 10_000 }).status().day!
    assert.ok(used >= i + 1 && used <= i + 1 + 20, `${used} of ${i + 1}`)
  }
  assert.ok(writes <= 5_000 / 20 + 2, `${writes} writes`)
  before.close()
  assert.equal(budgetAt(() => now, path, { daily: 10_000 }).status().day!.used, 5_000)
  assert.equal(statSync(path + MONTH).mode & 0o777, 0o600)
  assert.ok(content.includes(NAME) && !content.includes('SECRETKEY'))
  now += 86_400_000
  assert.equal(budgetAt(() => now, path, { daily: 10_000 }).status().day!.used, 0)
})

test('several programs count in one file at a time: each sees what all spent, over days, kills and a clock that is set back', () => {
  const random = createRandom()
  for (let seed = 0; seed < 5; seed++) {
    random.seek(seed, 0, 0, 0)
    const below = (most: number) => Math.floor(random.unit() * most)
    let now = Date.UTC(2026, 10, 28, 12)
    const path = fileOf()
    const [daily, month] = [10_000, 50_000]
    const step = daily / 500
    const open = () => budgetAt(() => now, path, { daily, month })
    const programs = [open(), open(), open()]
    const spent = new Map<string, number>()
    let killed = 0
    for (let i = 0; i < 300; i++) {
      const one = below(3)
      const [event, credits] = [below(100), below(30) / 2]
      const day = new Date(now).toISOString().slice(0, 10)
      if (event === 0) now += below(2) * 86_400_000
      else if (event < 4) {
        // What a program that is killed had counted ahead is not given back.
        if (event === 1) killed++
        else programs[one]!.close()
        programs[one] = open()
      } else {
        const back = event < 8 ? -1 : 1
        if (back === 1 || (spent.get(day) ?? 0) > credits) {
          programs[one]!.charge(back * credits)
          spent.set(day, (spent.get(day) ?? 0) + back * credits)
        }
      }
      const status = programs[below(3)]!.status()
      const today = new Date(now).toISOString()
      const sum = (id: string) => [...spent].reduce((all, [day, some]) => all + (day.startsWith(id) ? some : 0), 0)
      // Each of the others has counted up to a step ahead, and what was given back to one may be more.
      for (const [told, id] of [
        [status.day!.used, today.slice(0, 10)],
        [status.month!.used, today.slice(0, 7)],
      ] as const)
        assert.ok(
          told >= sum(id) - 0.5 && told <= sum(id) + (2 + killed) * (step + 15 * 4),
          `seed ${seed}: ${told} of ${sum(id)}`,
        )
    }
    for (const one of programs) one.close()
    const ids = new Date(now).toISOString()
    const sum = [...spent].reduce((all, [day, some]) => all + (day.startsWith(ids.slice(0, 7)) ? some : 0), 0)
    if (killed === 0) assert.equal(open().status().month!.used, Math.round(sum))
    now -= 40 * 86_400_000
    assert.ok(open().status().month!.used >= Math.floor(sum), 'a clock that is set back gives nothing anew')
  }
})

test('what nobody can read is told of and left out, what cannot be written is counted, and old months are removed', () => {
  const now = () => NOON
  const line = (credits: unknown, day: unknown = '2026-11-22') => JSON.stringify({ day, endpoint: KEY, credits })
  for (const [text, told, used] of [
    ['', 0, 0],
    ['{"day": "2026-11-22"', 0, 0],
    [`${line(5)}\n\n${line(7, '2026-11-21')}\n${line(8, '2026-10-01')}\n`, 0, 5],
    [`null\n${line(5)}\n{"day\n[1]\n${line('9')}\n${line(9, 7)}\n{"__proto__": {}}\n`, 1, 5],
    [`${line(5)}\n{"day": "20\n${line(6)}\n`, 1, 11],
  ] as const) {
    const path = fileOf()
    openSpent(path, silent, now).at('x', 'x').add('2026-11-22', 1)
    writeFileSync(path + MONTH, text)
    const lines: string[] = []
    const log = createLog({ write: line => lines.push(line), json: false })
    const spent = openSpent(path, log, now).at(URL_OF, NAME)
    assert.equal(spent.since('2026-11-22'), used, text)
    assert.equal(lines.length, told, text)
    spent.add('2026-11-22', 0.5)
    assert.equal(openSpent(path, log, now).at(URL_OF, NAME).since('2026-11-22'), used + 0.5)
  }
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const nowhere = openSpent('/dev/null/spent', log, now).at('x', NAME)
  for (let i = 0; i < 3; i++) nowhere.add('2026-11-22', 5)
  assert.equal(nowhere.since('2026-11'), 15)
  assert.equal(lines.filter(line => line.includes('a restart would forget it')).length, 1)

  const path = fileOf()
  for (const month of ['2026-09', '2026-10', '2026-11', '2026-12'])
    openSpent(path, silent, now).at('x', 'x').add(`${month}-05`, 1)
  const spent = openSpent(path, silent, now).at('x', 'x')
  assert.deepEqual(
    ['.2026-09.ndjson', '.2026-10.ndjson', MONTH, DECEMBER].map(it => existsSync(path + it)),
    [false, true, true, true],
  )
  assert.equal(spent.since('2026-11'), 2)
})
