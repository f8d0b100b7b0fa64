import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import type { AlertingService } from '../../src/http/alerting/service.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { openRules } from '../../src/rules/store.ts'
import { ALICE, appOf, callerOf } from './support.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-http-silences-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const serve = (limits: Partial<Limits> = {}) => {
  const folder = join(root, String(++folders))
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  const all = { ...DEFAULT_LIMITS, ...limits }
  const rules = openRules(folder, { limits: all })
  const app = appOf({
    accounts: {
      verify: token =>
        ({
          cs_alice: { ...ALICE, id: 1 },
          cs_bob: { ...ALICE, id: 2 },
          cs_search: { ...ALICE, id: 1, scopes: new Set(['search'] as const) },
        })[token],
    },
    alerting: { rules, service: {} as AlertingService },
    limits: all,
  })
  const [call, bob, search] = ['cs_alice', 'cs_bob', 'cs_search'].map(token => callerOf(app, token))
  return { call: call!, bob: bob!, search: search!, folder, audit: () => accounts.trail.list({ limit: 9 }) }
}

const PATH = '/alerting/silences/'
const in2030 = { to: '2030-01-01T00:00:00Z', reason: 'Planned upgrade' }

test('a silence is made, listed, and removed by its own account, and the trail says by whom', async () => {
  const { call, bob, search, folder, audit } = serve()
  const matcher = { rules: [7], labels: { team: 'payments' } }
  const { status, body } = await call('POST', PATH, { matcher, ...in2030 })
  assert.equal(status, 201)
  const { from, createdAt, ...rest } = body
  assert.ok(Math.abs(Date.parse(from) - Date.now()) < 60_000 && from <= createdAt)
  assert.deepEqual(rest, {
    ...{ id: 1, matcher, to: '2030-01-01T00:00:00.000Z', reason: 'Planned upgrade' },
    ...{ author: 'alice', state: 'active' },
  })
  const later = await call('POST', PATH, { matcher: { network: '*/*/*' }, from: '2029-01-01', ...in2030 })
  assert.equal(later.body.state, 'waiting')
  assert.deepEqual((await call('GET', PATH)).body.silences, [later.body, body])
  assert.deepEqual((await bob('GET', PATH)).body, { silences: [] })
  const changed = { matcher: { network: '*/*/*' }, from: '2029-02-01T00:00:00Z', to: in2030.to, reason: 'Postponed' }
  const put = await call('PUT', `${PATH}2/`, changed)
  assert.deepEqual(
    [put.status, put.body],
    [200, { ...later.body, from: '2029-02-01T00:00:00.000Z', reason: 'Postponed' }],
  )
  assert.deepEqual((await call('GET', PATH)).body.silences, [put.body, body])
  const { status: refused, body: why } = await call('PUT', `${PATH}2/`, { ...changed, to: '2029-01-01' })
  assert.deepEqual([refused, why.error.faults[0].path], [400, 'to'])
  for (const [other, id] of [
    [bob, '2'],
    [call, '3'],
    [call, '02'],
  ] as const) {
    const { status, body } = await other('PUT', `${PATH}${id}/`, changed)
    assert.equal(status, 404)
    assert.equal(
      body.error.reason,
      `This account has no silence ${id} that is not over: its silences are at /alerting/silences/.`,
    )
  }
  assert.equal((await bob('DELETE', `${PATH}1/`)).status, 404)
  for (const [method, path] of [
    ['GET', PATH],
    ['POST', PATH],
    ['PUT', `${PATH}1/`],
    ['DELETE', `${PATH}1/`],
  ] as const)
    assert.equal((await search(method, path, method.startsWith('P') ? {} : undefined)).status, 403)
  assert.equal((await call('DELETE', `${PATH}1/`)).status, 204)
  const gone = await call('DELETE', `${PATH}1/`)
  assert.equal(gone.status, 404)
  assert.equal(gone.body.error.reason, 'This account has no silence 1: its silences are at /alerting/silences/.')
  const again = openRules(folder)
  assert.deepEqual(
    again.silences.all(1).map(({ id }) => id),
    [2],
  )
  again.close()
  assert.deepEqual(
    audit()
      .filter(({ action }) => action.startsWith('silence'))
      .map(({ account, token, action, target, detail }) => [account, token, action, target, detail?.reason]),
    [
      ['alice', 7, 'silence remove', '1', 'Planned upgrade'],
      ['alice', 7, 'silence change', '2', 'Postponed'],
      ['alice', 7, 'silence add', '2', 'Planned upgrade'],
      ['alice', 7, 'silence add', '1', 'Planned upgrade'],
    ],
  )
})

test('a silence that says too little or what nobody understands is refused', async () => {
  const { call } = serve({ silences: 1 })
  const faultsOf = async (body: object) => {
    const answer = await call('POST', PATH, { matcher: { rules: [1] }, ...in2030, ...body })
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    return (answer.body.error.faults ?? []).map(
      ({ path, message }: { path: string; message: string }) => `${path}: ${message}`,
    )
  }
  assert.deepEqual(await faultsOf({ matcher: {} }), [
    'matcher: matcher must have "rules", "network", "channel", "labels" or "fields". For all alerts, write {"network": "*/*/*"}.',
  ])
  assert.deepEqual(await faultsOf({ matcher: { rule: [1] } }), [
    'matcher.rule: "rule" is not a property of a matcher, which has "rules", "network", "channel", "labels" and "fields". Did you mean "rules"?',
    'matcher: matcher must have "rules", "network", "channel", "labels" or "fields". For all alerts, write {"network": "*/*/*"}.',
  ])
  assert.deepEqual(await faultsOf({ matcher: { rules: [] } }), [
    'matcher.rules: rules must be a list of 1 to 100 numbers of rules, not a list of 0.',
  ])
  assert.deepEqual(await faultsOf({ matcher: { rules: ['7'] } }), [
    'matcher.rules[0]: rules[0] must be an integer of at least 1, not "7". Write it without quotes.',
  ])
  assert.match(
    (await faultsOf({ matcher: { network: 'mainnet' } }))[0],
    /^matcher.network: network must be the name of a network such as/,
  )
  assert.match(
    (await faultsOf({ matcher: { channel: 'Fax' } }))[0],
    /^matcher.channel: channel must be a type of receiver: "Webhook/,
  )
  assert.match(
    (await faultsOf({ matcher: { labels: {} } }))[0],
    /^matcher.labels: labels must be an object with 1 to 10 names/,
  )
  assert.match((await faultsOf({ matcher: { fields: { a: 1 } } }))[0], /^matcher.fields.a: a must be a string, not 1/)
  assert.deepEqual(await faultsOf({ matcher: { labels: { team: '' }, fields: { 'args.memo': '' } } }), [
    'matcher.labels.team: team must be a string that is not empty, not "".',
    'matcher.fields["args.memo"]: args.memo must be a string that is not empty, not "".',
  ])
  assert.deepEqual(await faultsOf({ to: '2020-01-01' }), ['to: to must be a time that is not over, not "2020-01-01".'])
  assert.deepEqual(await faultsOf({ from: '2031-01-01' }), [
    'to: to must be later than from, not "2030-01-01T00:00:00Z".',
  ])
  assert.deepEqual(await faultsOf({ to: 'tomorrow', reason: '' }), [
    'to: to must be a time such as "2024-05-17T12:00:00Z", not "tomorrow".',
    'reason: reason must be a text that says why, not "".',
  ])
  assert.match((await faultsOf({ author: 'bob' }))[0], /^author: "author" is not a property of a silence/)
  await call('POST', PATH, { matcher: { rules: [1] }, ...in2030 })
  const full = await call('POST', PATH, { matcher: { rules: [1] }, ...in2030 })
  assert.equal(full.status, 400)
  assert.match(full.body.error.reason, /An account has more than 1 silences? that are not over/)
})
