import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../e2e/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { press, see, skipChain as skip, useChain } from './support.ts'

const NETWORK = 'ethereum/anvil/local'

describe('rules in the console, on a chain that grows and reorganises', { skip }, () => {
  const { bench, chain } = useChain(NETWORK, '--allow-target', '127.0.0.1/32')

  const isStored = async () => {
    const { hash } = await chain.anvil.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
    const ids = { ids: { values: [hash] } }
    await until(
      () => bench.server.total(NETWORK, 'block', ids),
      total => total === 1,
    )
  }
  const mine = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) await chain.anvil.call('evm_mine')
    await isStored()
  }
  const send = async (from: string, to: string) => {
    const gas = { gas: '0x5208', gasPrice: '0x12a05f200' }
    const hash = await chain.anvil.call<string>('eth_sendTransaction', { from, to, value: '0xde0b6b3a7640000', ...gas })
    await isStored()
    return hash
  }
  const says = (page: Page, text: string) =>
    page.getByRole('list', { name: 'The life of the alert' }).getByText(text).waitFor()

  test('an alert is pending, is confirmed and arrives, and is retracted; another one is withdrawn', async t => {
    const receiver = await startReceiver(t)
    const [, wallet, other] = (await chain.anvil.call<string[]>('eth_accounts')) as [string, string, string]
    await mine(1)
    const from = JSON.stringify({ query: { term: { from: wallet } } })
    const page = await bench.enter(
      t,
      `/console/rules/new?${new URLSearchParams({ network: NETWORK, kinds: 'tx', from })}`,
    )
    await page.getByLabel('Name', { exact: true }).fill('Wallet')
    await page.getByLabel('Confirmations').fill('2')
    await page.getByLabel('URL', { exact: true }).fill(receiver.url)
    await press(page, 'Create the rule')
    await see(page, 'The rule has found nothing yet')

    const hash = await send(wallet, other)
    const grid = page.getByRole('grid', { name: 'Alerts' })
    await grid.getByText('pending').click()
    await says(page, 'it fires 2 blocks later, of which 0 have come')
    await mine(1)
    await says(page, 'it fires 2 blocks later, of which 1 have come')
    assert.equal(receiver.calls.length, 0)
    await mine(1)
    await says(page, 'its block is deep enough')
    await until(
      () => receiver.calls.length,
      count => count === 1,
    )
    const told = JSON.parse(receiver.calls[0]!.body) as { type: string; entity: { _id: string } }
    assert.deepEqual([told.type, told.entity._id], ['alert.confirmed', hash])

    await chain.anvil.call('anvil_reorg', 3, [])
    await isStored()
    await says(page, 'reorganised away after it had fired')
    await until(
      () => receiver.calls.map(({ headers }) => headers['webhook-type']),
      types => types.includes('alert.retracted'),
    )

    await page.keyboard.press('Escape')
    await send(wallet, other)
    await see(grid, 'pending')
    await chain.anvil.call('anvil_reorg', 1, [])
    await isStored()
    await grid.getByText('withdrawn').click()
    await says(page, 'It never fires')
    assert.deepEqual(
      receiver.calls.map(({ headers }) => headers['webhook-type']),
      ['alert.confirmed', 'alert.retracted'],
    )
  })

  test('an alert of windows is open, has ended, and is retracted', async t => {
    const receiver = await startReceiver(t)
    const [, , , wallet, other] = await chain.anvil.call<string[]>('eth_accounts')
    const { status, body } = await bench.server.ask<{ id: number }>('/alerting/rules', {
      ...{ name: 'Often', maxConfirmationCount: 1, technology: 'ethereum', blockchain: 'anvil', network: 'local' },
      config: {
        targetType: 'Transaction',
        targetMap: [{ name: 'from', operator: 'Equals', value: wallet }],
        when: {
          ...{ by: ['from'], within: { blocks: 3 } },
          conditions: [{ aggregate: 'Count', operator: 'Greater', value: '1' }],
        },
        notify: { resolved: true },
        alerts: [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }],
      },
    })
    assert.equal(status, 201, JSON.stringify(body))
    const page = await bench.enter(t, `/console/rules/${body.id}`)
    await page.locator('.sentence', { hasText: 'of more than 1 transaction from' }).waitFor()
    await mine(4)
    await send(wallet!, other!)
    await send(wallet!, other!)
    const grid = page.getByRole('grid', { name: 'Alerts' })
    await grid.getByText('pending').waitFor()
    await mine(1)
    await grid.getByText('open', { exact: true }).click()
    await says(page, 'Open: its conditions still hold.')
    await see(page.getByRole('complementary', { name: 'The open alert' }), 'number of matches 2', /^3 blocks/)
    await mine(3)
    await says(page, 'Its conditions held until block')
    await grid.getByText('ended', { exact: true }).waitFor()
    await until(
      () => receiver.calls.map(({ headers }) => headers['webhook-type']),
      types => types.join() === 'alert.confirmed,alert.resolved',
    )
    await chain.anvil.call('anvil_reorg', 5, [])
    await isStored()
    await see(grid, 'retracted')
  })
})
