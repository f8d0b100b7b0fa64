import { describe, test } from 'node:test'
import { pause, serve, tempFolder } from '../e2e/program.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { skip as noBrowser, press, see, signIn, useConsole } from './support.ts'

const skip = noBrowser || (anvilPath === undefined && 'there is no anvil for this platform')
const NETWORK = 'ethereum/anvil/local'

describe('Explore follows a chain', { skip }, () => {
  const bench = useConsole()

  test('new hits come in at the top, and those of lost blocks go', async t => {
    const anvil = await startAnvil(t)
    const [from, to] = await anvil.call<[string, string]>('eth_accounts')
    const send = (value: number) => anvil.call('eth_sendTransaction', { from, to, value: `0x${value.toString(16)}` })
    await send(1)
    const server = await serve(t, tempFolder(t), ['--network', NETWORK, '--rpc', anvil.url, '--from', '0'])
    for (const end = Date.now() + 120_000; (await server.total(NETWORK, 'tx').catch(() => 0)) < 1 && Date.now() < end; )
      await pause(100)
    const page = await bench.open(t)
    await page.goto(`${server.url}/console/explore?kinds=tx`)
    await signIn(page, server.token)
    await see(page, '1 hit in')
    await press(page, 'Follow')
    await see(page, 'Follows the chain: 0 new')
    await pause(500)
    const snapshot = await anvil.call('evm_snapshot')
    await send(2)
    await send(3)
    const grid = page.getByRole('grid')
    await see(page, 'Follows the chain: 2 new', '3 hits in')
    const row = (index: number, text: string) =>
      grid.locator(`[aria-rowindex="${index}"]`).filter({ hasText: text }).waitFor()
    await row(2, '0.000000000000000003')
    await row(4, '0.000000000000000001')

    await anvil.call('evm_revert', snapshot)
    for (let value = 7; value < 10; value++) await send(value)
    await page.getByRole('gridcell', { name: '0.000000000000000009 ETH' }).waitFor()
    await page.getByRole('gridcell', { name: '0.000000000000000002 ETH' }).waitFor({ state: 'detached' })
    await see(page, '4 hits in')
    await page.locator('[role=grid][aria-rowcount="5"]').waitFor()

    await press(page, 'Follow')
    await see(page, '4 hits in')
    await page.locator('[role=grid][aria-rowcount="5"]').waitFor()
  })
})
