import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccounts } from '../../../src/accounts/index.ts'
import { services } from '../../../src/app/index.ts'
import { chainsieve, folder } from './support.ts'

const { openRules: service } = services

test('silences are made, listed and removed in the data folder', async () => {
  const data = join(folder, 'silences')
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  const run = async (...line: string[]) => {
    const { code, out, err } = await chainsieve(['silences', ...line, '--data', data], { openRules: service })
    return [code, out || err] as const
  }
  assert.deepEqual(await run('list'), [0, 'There are no silences.\n'])
  const made = await run(
    ...['add', '--rules', '7,8', '--network', 'ethereum/*/*', '--label', 'team=payments', '--field', 'args.to=0xaB=c'],
    ...['--from', '2029-01-01T00:00:00Z', '--for', '2h', 'Planned upgrade'],
  )
  assert.deepEqual(made, [0, 'Silence 1 lasts from 2029-01-01T00:00:00.000Z to 2029-01-01T02:00:00.000Z.\n'])
  const [, listed] = await run('list')
  assert.match(listed, /^ID +STATE +FROM +TO +AUTHOR +MATCHER +REASON\n1 +waiting /)
  const [, text] = await run('list', '--json')
  const [{ matcher, reason, author }] = JSON.parse(text)
  assert.deepEqual(matcher, {
    ...{ rules: [7, 8], network: 'ethereum/*/*', labels: { team: 'payments' }, fields: { 'args.to': '0xaB=c' } },
  })
  assert.equal(reason, 'Planned upgrade')
  const [entry] = accounts.trail.list({ limit: 1 })
  assert.deepEqual([entry!.action, entry!.target, entry!.user], ['silence add', '1', author])
  accounts.close()

  for (const [line, code, why] of [
    [['add', '--rules', '7', 'x'], 2, /Until when\?/],
    [['add', '--rules', '7', '--for', '1h', '--to', '2030-01-01', 'x'], 2, /Until when\?/],
    [['add', '--for', '1h', 'x'], 2, /Which alerts\?/],
    [['add', '--rules', 'seven', '--for', '1h', 'x'], 2, /--rules takes numbers of rules, not "seven"/],
    [['add', '--label', 'team', '--for', '1h', 'x'], 2, /--label takes a name and its value/],
    [['add', '--channel', 'Fax', '--for', '1h', 'x'], 1, /channel must be a type of receiver/],
    [['add', '--rules', '7', '--to', '2020-01-01', 'x'], 1, /to must be a time that is not over/],
    [['remove', 'one'], 2, /A silence is named by its number/],
    [['remove', '2'], 1, /This account has no silence 2\./],
  ] as const) {
    const [was, said] = await run(...line)
    assert.equal(was, code, said)
    assert.match(said, why)
  }
  assert.deepEqual(await run('remove', '1'), [0, 'Silence 1 is removed.\n'])
  assert.deepEqual(await run('list'), [0, 'There are no silences.\n'])
})
