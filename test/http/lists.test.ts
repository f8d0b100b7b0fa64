import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import type { AlertingService } from '../../src/http/alerting/service.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { openRules } from '../../src/rules/store.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { ALICE, appOf, callerOf } from './support.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-http-lists-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const serve = (limits: Partial<Limits> = {}) => {
  const folder = join(root, String(++folders))
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  const all = { ...DEFAULT_LIMITS, ...limits }
  const rules = openRules(folder, { limits: all })
  const service = {
    ...{ idle: () => undefined, warnings: () => [], failing: () => [], abis: () => [], refusedHost: () => undefined },
    ...{ startBlockOf: async () => 1, triggerCounts: async () => new Map(), cancel: async () => 0 },
  } as unknown as AlertingService
  const app = appOf({
    accounts: {
      verify: token =>
        ({
          cs_alice: { ...ALICE, id: 1 },
          cs_bob: { ...ALICE, id: 2 },
          cs_search: { ...ALICE, id: 1, scopes: new Set(['search'] as const) },
        })[token],
    },
    alerting: { rules, service },
    limits: all,
  })
  return { call: callerOf(app, 'cs_alice'), bob: callerOf(app, 'cs_bob'), search: callerOf(app, 'cs_search'), rules }
}

const LIST = '/alerting/lists/customers/'
const A = `0x${'aB'.repeat(20)}`
const B = `0x${'1'.repeat(40)}`
const ruleWith = (value: unknown) =>
  ruleBody({ config: ruleConfig({ targetMap: [{ name: 'address', operator: 'Equals any', value }] }) })

test('a list is made, changed, looked up, paged through and deleted', async () => {
  const { call, bob, search } = serve()
  const made = await call('PUT', LIST, `${A}\r\n\n  ${B}\n${A.toLowerCase()}\n"quoted"`)
  assert.equal(made.status, 201)
  const { createdAt, updatedAt, ...rest } = made.body
  assert.deepEqual(rest, { name: 'customers', size: 3, revision: 1, rules: [] })
  assert.deepEqual(await call('GET', LIST).then(({ body }) => body), made.body)
  assert.deepEqual((await call('GET', '/alerting/lists/')).body, { lists: [made.body] })

  assert.deepEqual((await call('POST', `${LIST}add/`, JSON.stringify(['x', 'y', 'x', B]))).body, {
    ...{ count: 2, size: 5, revision: 2 },
  })
  assert.deepEqual((await call('POST', `${LIST}remove/`, 'x\nnothing\n')).body, { count: 1, size: 4, revision: 3 })
  assert.deepEqual(
    (await call('GET', `${LIST}values/?value=${A.toUpperCase().replace('X', 'x')}`)).body.values.length,
    1,
  )
  assert.deepEqual((await call('GET', `${LIST}values/?value=x`)).body, { values: [], next: null })
  const seen: string[] = []
  for (let after = ''; ; ) {
    const { body } = await call('GET', `${LIST}values/?size=1${after}`)
    seen.push(...body.values)
    if (body.next === null) break
    after = `&after=${encodeURIComponent(body.next)}`
  }
  assert.deepEqual(seen.sort(), [A.toLowerCase(), B, 'quoted', 'y'].sort())

  const replaced = await call('PUT', LIST, '[]')
  assert.equal(replaced.status, 400)
  assert.deepEqual((await call('PUT', LIST, 'z')).body.size, 1)
  for (const [method, path] of [
    ['GET', LIST],
    ['DELETE', LIST],
    ['GET', `${LIST}values/`],
    ['POST', `${LIST}add/`],
    ['POST', `${LIST}remove/`],
  ] as const) {
    assert.equal((await bob(method, path, method === 'POST' ? 'x' : undefined)).status, 404, path)
    assert.equal((await search(method, path, method === 'POST' ? 'x' : undefined)).status, 403, path)
  }
  assert.equal((await call('DELETE', LIST)).status, 204)
  assert.equal((await call('GET', LIST)).status, 404)
})

test('a rule takes a list by its name, which cannot be deleted then', async () => {
  const { call } = serve()
  const { body: refused } = await call('POST', '/alerting/rules/', ruleWith({ list: 'customers' }))
  assert.deepEqual(refused.error.faults, [
    {
      path: 'config.targetMap[0].value.list',
      message: 'This account has no list "customers": create it first.',
    },
  ])
  await call('PUT', LIST, A)
  const { status, body } = await call('POST', '/alerting/rules/', ruleWith({ list: 'customers' }))
  assert.equal(status, 201)
  assert.deepEqual((await call('GET', LIST)).body.rules, [{ id: body.id, name: 'Large transfers' }])
  const kept = await call('DELETE', LIST)
  assert.equal(kept.status, 400)
  assert.equal(
    kept.body.error.reason,
    'The list customers is used by rule 1 (Large transfers): change or delete them first.',
  )
  assert.equal((await call('DELETE', '/alerting/rules/1/')).status, 204)
  assert.equal((await call('DELETE', LIST)).status, 204)
})

test('a list in a condition is checked', async () => {
  const { call } = serve()
  await call('PUT', LIST, A)
  const faultsOf = async (condition: object) => {
    const targetMap = [{ name: 'address', operator: 'Equals any', value: { list: 'customers' }, ...condition }]
    const { body } = await call('POST', '/alerting/rules/', ruleBody({ config: ruleConfig({ targetMap }) }))
    return body.error?.faults?.map(({ message }: { message: string }) => message)
  }
  assert.equal(await faultsOf({ operator: 'Equals any (ignore case)' }), undefined)
  assert.deepEqual(await faultsOf({ operator: 'Equals' }), [
    'value must be a string with "Equals", not an object. A watch list goes with "Equals any" or "Equals any (ignore case)".',
  ])
  assert.deepEqual(await faultsOf({ value: { list: 5 } }), [
    'list must be the name of a watch list, not 5. Put it in quotes: "5".',
  ])
  assert.match(
    (await faultsOf({ value: { list: 'customers', more: 1 } }))[0],
    /"more" is not a property of a watch list/,
  )
  assert.match((await faultsOf({ value: {} }))[0], /list must be the name of a watch list, and is missing/)
  const value = { name: 'value', operator: 'Equals any', value: { list: 'customers' }, useScaledValue: true }
  assert.deepEqual(await faultsOf({ name: 'args', operator: 'Inspect', value: null, operatorParameters: [value] }), [
    'A watch list is not compared in units of a token: leave useScaledValue out.',
  ])
})

test('hostile names and values are refused, and leave nothing behind', async () => {
  const { call, rules } = serve({ listValue: 20, listValues: 4, body: 300 })
  for (const name of ['%2e%2e', 'a%2fb', '%00', 'x'.repeat(65), '-a', '%f0%9f%98%80', '__proto__%20'])
    assert.ok([400, 404].includes((await call('PUT', `/alerting/lists/${name}/`, 'x')).status), name)
  for (const [body, reason] of [
    ['', /There is no value/],
    ['  \n\t', /There is no value/],
    ['x'.repeat(21), /^\[0\] has more than 20/],
    ['{"list":"x"}', /is an object/],
    ['"open', /is not JSON/],
    ['["x", 5]', /^\[1\] must be a string, not 5/],
    ['["x", ""]', /^\[1\] is empty/],
    ['["\\ud800"]', /not valid Unicode/],
    ['[', /not JSON/],
    ['a\nb\nc\nd\ne', /more than 4 values/],
    ['a\n'.repeat(200), /more than 300/],
  ] as const) {
    const { status, body: answer } = await call('PUT', LIST, body)
    assert.ok(status === 400 || status === 413, `${body}: ${status}`)
    assert.match(answer.error.reason, reason)
  }
  assert.equal((await call('PUT', '/alerting/lists/constructor/', '__proto__\nconstructor')).status, 201)
  assert.deepEqual((await call('GET', '/alerting/lists/constructor/values/')).body.values, ['__proto__', 'constructor'])
  assert.deepEqual(
    rules.lists.all(1).map(({ name }) => name),
    ['constructor'],
  )
})
