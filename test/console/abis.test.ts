import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { SCOPES } from '../../src/accounts/index.ts'
import { tokenOf } from '../e2e/program.ts'
import { checkLayout, counted, DEMO, press, see, signIn, skip, useConsole, violations } from './support.ts'

const HOSTILE = `<img src=x onerror="document.title='x'">\u202e`
const abiOf = (name: string) => [
  { type: 'event', name, inputs: [{ name: 'who', type: 'address', indexed: true }] },
  { type: 'function', name: 'take', inputs: [], outputs: [{ name: '', type: 'bool' }], stateMutability: 'payable' },
  { type: 'error', name: 'Empty', inputs: [] },
]
const file = (name: string, content: unknown) => ({
  ...{
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  },
})

describe('ABIs', { skip }, () => {
  const bench = useConsole()
  const enter = (t: TestContext, options?: BrowserContextOptions) => bench.enter(t, '/console/abis', options, SCOPES)

  test('several files are added, a bad one is told, one is found, opened, and removed by a second click', async t => {
    const page = await enter(t)
    await see(page, 'No ABI was added yet')
    await page.getByLabel('Decode stored blocks again').uncheck()
    await page
      .getByLabel('Choose files')
      .setInputFiles([
        file('Plain.json', abiOf('Plained')),
        file('Forge.json', { abi: abiOf('Forged'), bytecode: { object: '0x' } }),
        file('Hat.json', { _format: 'hh-sol-artifact-1', contractName: 'Hat', abi: abiOf('Hatted') }),
        file('Bad.json', '{"nothing": 1}'),
      ])
    const outcomes = page.locator('.outcomes li')
    await outcomes.nth(3).waitFor()
    const told = await outcomes.allTextContents()
    for (const [i, name] of ['Plain', 'Forge', 'Hat'].entries())
      assert.equal(told[i], `${name}.json: added with 1 event, 1 function and 1 error`)
    assert.match(told[3]!, /^Bad\.json: .*abi/i)
    const grid = page.getByRole('grid', { name: 'ABIs' })
    await grid.getByText('Plain', { exact: true }).waitFor()
    await counted(grid.getByRole('row'), 4)

    await page.getByLabel('Find an ABI').fill('forge')
    await see(page, '1 of 3')
    await grid.getByText('Forge', { exact: true }).click()
    const opened = page.getByRole('complementary', { name: 'The open ABI' })
    await see(opened, 'event Forged(address indexed who)', 'function take()')
    const link = page.url()
    await page.reload()
    await see(opened, 'event Forged')
    assert.equal(page.url(), link)
    assert.deepEqual(await violations(page), [])

    await press(opened, 'Remove')
    await page.keyboard.press('Escape')
    await press(opened, 'Remove')
    await press(page, 'Remove the ABI')
    await see(page, '2 of 2')
    await opened.waitFor({ state: 'detached' })
    await counted(grid.getByRole('row'), 3)
  })

  test('dropped files decode stored blocks again, with progress until it is done', async t => {
    const page = await enter(t)
    const abi = readFileSync(new URL('../../data/demo-abi.json', import.meta.url), 'utf8')
    await page.getByLabel('Network', { exact: true }).selectOption(DEMO)
    const transfer = await page.evaluateHandle(text => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], 'Demo.json', { type: 'application/json' }))
      return transfer
    }, abi)
    await page.getByRole('region', { name: 'Add ABIs' }).dispatchEvent('drop', { dataTransfer: transfer })
    await page.locator('.outcomes li.good').getByText('added with').waitFor()
    await see(page, `Decoding ${DEMO} again by Demo is done.`)
    const grid = page.getByRole('grid', { name: 'ABIs' })
    await grid.getByText('Demo', { exact: true }).click()
    await press(page, 'Decode stored blocks again')
    await see(page, `Stored blocks of ${DEMO} will be decoded again.`)
  })

  test('progress is shown, and stopped', async t => {
    const page = await bench.open(t, '/console/abis')
    const running = { id: 'r1', network: DEMO, abi: '0123456789abcdef', name: HOSTILE, askedAt: '2026-01-01T00:00:00Z' }
    let [left, state] = [1_000, 'running']
    await page.route('**/redecodings', route => {
      const redecodings = left === 0 ? [] : [{ ...running, state, nextBlock: left, blocksLeft: left }]
      left = Math.max(400, left - 300)
      return route.fulfill({ json: { redecodings } })
    })
    await page.route('**/redecodings/r1', route => {
      state = 'stopping'
      return route.fulfill({ status: 202, json: { ...running, state } })
    })
    await signIn(page, tokenOf(bench.data, SCOPES))
    const progress = page.getByRole('region', { name: 'Decoding again' })
    await see(progress, '600 of 1,000')
    assert.match((await progress.textContent())!, /<img src=x.*\[U\+202E\]/)
    assert.deepEqual(await violations(page), [])
    await press(progress, /^Stop decoding/)
    await progress.getByText('Stopping', { exact: true }).waitFor()
    left = 0
    await see(page, /Decoding .* is stopped\./)
  })

  test('an address that is not one is told before anything is sent', async t => {
    const page = await enter(t)
    await page.getByLabel('Address').fill('0x12')
    await see(page, 'An address is 0x and 40 hex digits')
    assert.deepEqual(await violations(page), [])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing, wide and narrow (${colorScheme})`, async t => {
      const page = await enter(t, { colorScheme })
      await page.getByRole('grid', { name: 'ABIs' }).getByText('Plain', { exact: true }).click()
      await see(page, 'event Plained')
      await checkLayout(page)
    })
})
