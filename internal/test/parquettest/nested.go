package parquettest

// nestedCases have lists and maps as older writers have them, or without what says that they are.
func nestedCases() []Case {
	return []Case{
		{Name: "repeated without an annotation", Rows: [][]string{{"n:[i1,i2]", "p:[{" + word("x") + ":i3," + word("y") + ":i4}]"}, {"n:[]", "p:[]"}},
			Data: build(2, []Element{column("n", Int32, Repeated, None), parent("p", Repeated, None, 2), column("x", Int32, Optional, None), column("y", Int32, Optional, None)}, nil,
				chunk(Int32, 3, levels(3, LevelsOf(0, 1, 0), LevelsOf(1, 1, 0), Int32s(1, 2))),
				chunk(Int32, 2, levels(2, LevelsOf(0, 0), LevelsOf(2, 0), Int32s(3))),
				chunk(Int32, 2, levels(2, LevelsOf(0, 0), LevelsOf(2, 0), Int32s(4))))},
		{Name: "lists of two levels", Rows: rows("a:[[i1,i2],[]]", "a:[]", "a:[[i3]]"),
			Data: build(3, []Element{parent("a", Optional, List, 1), parent("array", Repeated, List, 1), column("array", Int32, Repeated, None)}, nil,
				chunk(Int32, 5, levels(5, LevelsOf(0, 2, 1, 0, 0), LevelsOf(3, 3, 2, 1, 3), Int32s(1, 2, 3))))},
		{Name: "maps of maps", Rows: rows("a:{t61:{i1:true,i2:false}}", "a:{t62:null}", "a:{}", "a:null"), Data: maps()},
		{Name: "a map with optional keys", Rows: rows("m:{i1:i5}", "m:{}"),
			Data: build(2, []Element{parent("m", Optional, Map, 1), parent("map", Repeated, MapKeyValue, 2), column("key", Int32, Optional, None), column("value", Int32, Optional, None)}, nil,
				chunk(Int32, 2, levels(2, LevelsOf(0, 0), LevelsOf(3, 1), Int32s(1))),
				chunk(Int32, 2, levels(2, LevelsOf(0, 0), LevelsOf(3, 1), Int32s(5))))},
		{Name: "a map without values", Rows: rows("m:{i1:null,i2:null}"), By: []string{Go},
			Data: build(1, []Element{parent("m", Optional, Map, 1), parent("key_value", Repeated, None, 1), column("key", Int32, Required, None)}, nil,
				chunk(Int32, 2, levels(2, LevelsOf(0, 1), LevelsOf(2, 2), Int32s(1, 2))))},
	}
}

// levels is a data page of version 1 with repetitions.
func levels(values int, repetitions, definitions, body []byte) Page {
	return Page{Values: values, Body: append(append(repetitions, definitions...), body...)}
}

// maps are maps in maps, with the annotations of Spark.
func maps() []byte {
	schema := []Element{
		parent("a", Optional, Map, 1), parent("key_value", Repeated, MapKeyValue, 2), column("key", Bytes, Required, Text),
		parent("value", Optional, Map, 1), parent("key_value", Repeated, MapKeyValue, 2), column("key", Int32, Required, None), column("value", Bool, Required, None),
	}
	inner := func(body []byte) Page { return levels(5, LevelsOf(0, 2, 0, 0, 0), LevelsOf(4, 4, 2, 1, 0), body) }
	return build(4, schema, nil,
		chunk(Bytes, 4, levels(4, LevelsOf(0, 0, 0, 0), LevelsOf(2, 2, 1, 0), Strings("a", "b"))),
		chunk(Int32, 5, inner(Int32s(1, 2))), chunk(Bool, 5, inner([]byte{0b01})))
}
