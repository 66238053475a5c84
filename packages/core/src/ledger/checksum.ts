/** The CRC-32 of each byte, and of each byte that one, two or three others follow. With these tables two code units take one step, because every read computes the checksum. */
const [crcOfLast, crcOfThird, crcOfSecond, crcOfFirst] = [8, 16, 24, 32].map((bits) =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < bits; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
  }),
) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];

/** Computes the CRC-32 of the UTF-16 code units. It finds flipped bits and incomplete writes. It does not stop an attacker. */
export function checksum(text: string): string {
  let crc = -1;
  const even = text.length & ~1;
  for (let index = 0; index < even; index += 2) {
    const mixed = crc ^ (text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
    const first = (crcOfFirst[mixed & 0xff] as number) ^ (crcOfSecond[(mixed >>> 8) & 0xff] as number);
    crc = first ^ (crcOfThird[(mixed >>> 16) & 0xff] as number) ^ (crcOfLast[mixed >>> 24] as number);
  }
  if (even < text.length) {
    const mixed = crc ^ text.charCodeAt(even);
    crc = (mixed >>> 16) ^ (crcOfThird[mixed & 0xff] as number) ^ (crcOfLast[(mixed >>> 8) & 0xff] as number);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
