import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createContracts } from '../../src/app/stores.ts'
import { abiFolder, storeAbiFiles } from '../../src/ingest/decoding/abi-files.ts'
import { tempFolder } from '../e2e/program.ts'

const NETWORK = 'ethereum/ethereum/mainnet'
const ABI = '[{"type":"event","name":"Ping","inputs":[]}]'

test('contracts are those of ABIs that were given for an address on the network, as of now', async t => {
  const data = tempFolder(t)
  const contracts = createContracts(data)
  assert.deepEqual(await contracts(NETWORK), [])

  const add = (name: string, text: string, where: { address: string | null; network: string | null }) => {
    writeFileSync(join(data, name), text)
    storeAbiFiles(abiFolder(data), [join(data, name)], where)
  }
  const address = `0x${'ab'.repeat(20)}`
  add('Vault.json', ABI, { address, network: NETWORK })
  add('Other.json', ABI.replace('Ping', 'Pong'), { address, network: 'ethereum/gnosis/mainnet' })
  add('Anything.json', ABI.replace('Ping', 'Pung'), { address: null, network: null })
  writeFileSync(join(abiFolder(data), 'broken.json'), '{')
  assert.deepEqual(await contracts(NETWORK), [{ name: 'Vault', address }])

  const later = `0x${'cd'.repeat(20)}`
  add('Later.json', ABI, { address: later, network: NETWORK })
  assert.deepEqual(new Set((await contracts(NETWORK)).map(({ name }) => name)), new Set(['Vault', 'Later']))
  rmSync(abiFolder(data), { recursive: true })
  assert.deepEqual(await contracts(NETWORK), [])
})
