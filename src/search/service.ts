/**
 * What the HTTP room and the command line ask of the search room. Bodies travel as bytes, so that the event loop neither
 * parses a large query nor builds a large answer.
 */
export interface SearchService {
  /** Networks that can be searched, as `technology/blockchain/network`. */
  networks(): string[]
  search(request: {
    network: string
    entities: string
    body: Uint8Array | undefined
    signal: AbortSignal
  }): Promise<Answer>
  /** Names of the network that somebody who typed `q` may mean. */
  suggest(request: { network: string; q: string; size: number; signal: AbortSignal }): Promise<Answer>
  /** Contracts whose codes have most in common with that of the contract at an address. */
  similar(request: { network: string; address: string; size: number; signal: AbortSignal }): Promise<Answer>
  get(request: { network: string; entity: string; id: string; signal: AbortSignal }): Promise<Answer>
}

/** An HTTP answer: JSON text, whole or as a stream of chunks in constant memory. */
export interface Answer {
  status: number
  body: Uint8Array | ReadableStream<Uint8Array>
}
