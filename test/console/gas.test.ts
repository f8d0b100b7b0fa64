import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkLayout, counted, DEMO, press, see, skip, useConsole } from './support.ts'

describe('Gas', { skip }, () => {
  const bench = useConsole()

  test('shows the fees of now and over a range, of which a part can be chosen', async t => {
    const { body } = await bench.server.send(`/${DEMO}/gasprice`).then(async reply => ({ body: await reply.json() }))
    const { blockNumber, eip1559 } = body as { blockNumber: number; eip1559: { instant: { maxFee: number } } }
    const page = await bench.enter(t, '/console/gas')
    const rows = page.getByRole('region', { name: /^Fees in gwei/ }).getByRole('row')
    await counted(rows, 6)
    const most = Number(eip1559.instant.maxFee.toPrecision(6)).toLocaleString('en-GB', { maximumFractionDigits: 9 })
    assert.match((await rows.nth(5).textContent())!, new RegExp(`^Instant99%.*${most.replace('.', '\\.')}`))
    await see(page, 'These fees may mislead', /^Instant \(99%\)$/)
    const chart = page.getByRole('img', { name: /^Base fee and gas prices over time/ })
    await chart.locator('canvas').waitFor()
    await page.getByLabel('Range').selectOption('The last hour')
    await page.waitForURL(/range=3600/)
    const used = page.getByRole('img', { name: /^Gas used/ })
    await used.locator('canvas').waitFor()
    await used.scrollIntoViewIfNeeded()
    const { x, y } = (await used.boundingBox())!
    await page.mouse.move(x + 100, y + 40)
    await page.mouse.down()
    await page.mouse.move(x + 300, y + 40, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=\d+&to=\d+/)
    await page.reload()
    await page.getByRole('button', { name: 'Show the range again' }).waitFor()
    assert.equal(await page.getByLabel('Range').inputValue(), 'cut')
    await chart.locator('canvas').waitFor()
    await press(page, 'Show the range again')
    await page.waitForURL(url => !url.search.includes('from='))
    await page.getByRole('link', { name: blockNumber.toLocaleString('en-GB'), exact: true }).waitFor()
    await checkLayout(page)
  })
})
