import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccounts } from '../../../src/accounts/index.ts'
import { services } from '../../../src/app/index.ts'
import { openRules } from '../../../src/rules/store.ts'
import { ruleBody, ruleConfig } from '../../support/rules.ts'
import { chainsieve, folder } from './support.ts'

const { openRules: service } = services
const lists = (...line: string[]) => chainsieve(['lists', ...line], { openRules: service })

test('lists are made, changed, looked up and deleted in the data folder', async () => {
  const data = join(folder, 'lists')
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const file = join(folder, 'values.txt')
  const run = async (...line: string[]) => {
    const { code, out, err } = await lists(...line, '--data', data)
    return [code, out || err]
  }
  assert.deepEqual(await run('list'), [0, 'There are no lists.\n'])
  writeFileSync(file, `0x${'aB'.repeat(20)}\n\nsecond\nsecond\n`)
  assert.deepEqual(await run('put', 'customers', file), [0, 'The list customers has 2 values.\n'])
  writeFileSync(file, '["second", "third"]')
  assert.deepEqual(await run('add', 'customers', file), [0, 'Added 1 value: the list customers has 3 values.\n'])
  writeFileSync(file, 'second')
  assert.deepEqual(await run('remove', 'customers', file), [0, 'Removed 1 value: the list customers has 2 values.\n'])
  assert.deepEqual(await run('has', 'customers', `0x${'AB'.repeat(20)}`), [0, 'yes\n'])
  assert.deepEqual(await run('has', 'customers', 'second'), [1, 'no\n'])

  const rules = openRules(data)
  const value = { list: 'customers' }
  const targetMap = [{ name: 'address', operator: 'Equals any', value }]
  const rule = rules.create(1, ruleBody({ config: ruleConfig({ targetMap }) }) as never, 0)
  assert.deepEqual(await run('list'), [0, 'NAME       VALUES  RULES\ncustomers  2       1\n'])
  const [code, why] = await run('delete', 'customers')
  assert.equal(code, 1)
  assert.match(String(why), /The list customers is used by rule 1 \(Large transfers\): change or delete them first\./)
  rules.remove(1, rule.id)
  rules.close()
  assert.deepEqual(await run('delete', 'customers'), [0, 'The list customers is deleted.\n'])
  assert.equal((await run('has', 'customers', 'x'))[0], 1)
  assert.equal((await run('put', '-bad', file))[0], 2)
  assert.equal((await run('put', 'x', join(folder, 'nothing')))[0], 1)
})
