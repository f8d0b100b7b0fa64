import { parentPort, workerData } from 'node:worker_threads'
import { type AddressesMemory, joinAddresses } from '../../../src/ingest/decoding/shared/addresses.ts'
import { joinTexts, type TextsMemory } from '../../../src/ingest/decoding/shared/dictionaries.ts'

/** Asks for the ids of addresses and texts, in the order given, and tells them. */
const { addresses, texts, asked } = workerData as {
  addresses: AddressesMemory
  texts: TextsMemory
  asked: string[]
}
const shared = joinAddresses(addresses, { hashKeys: [1, 2], find: () => undefined })
const words = joinTexts(texts)
parentPort!.postMessage({
  addresses: asked.map(shared.id),
  texts: asked.map(text => words.find(text) ?? words.add(text, text)!),
})
