/** Draws the page of the room beside it: `node 10-a-room-of-its-own/page.ts`. */
import { RoomPage } from "@bursar/engine-core/rooms"
import { writeFile } from "node:fs/promises"
import { room } from "./loans.ts"

await writeFile(new URL("x-loans.md", import.meta.url), RoomPage.text(room))
